package store

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"rendermac/fence"
)

// CodeLastAdminKey is that nobody could make another key any more.
const CodeLastAdminKey = "last_admin_key"

// NewKey is a key to be made. Its scope is read, submit or admin.
type NewKey struct{ AccountID, Name, Scope string }

// Key is an API key, without its secret.
type Key struct {
	ID string
	NewKey
	CreatedAt time.Time
	RevokedAt *time.Time
}

// CreateKey makes a key of an account; its plaintext is shown once.
func (db *DB) CreateKey(ctx context.Context, n NewKey) (k Key, plaintext string, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		_, err := t.account(n.AccountID)
		if fence.CodeOf(err) == fence.CodeNotFound {
			return &fence.Error{
				Code: fence.CodeInvalid, Message: "the key was not made: mend what is listed and send it again",
				Faults: []fence.Fault{{Location: "account_id", Message: "there is no such account"}},
			}
		}
		if err != nil {
			return err
		}
		k = Key{NewKey: n, CreatedAt: t.now}
		k.ID, plaintext, err = t.newKey(n)
		return err
	})
	return k, plaintext, err
}

func (t *tx) newKey(n NewKey) (id, plaintext string, err error) {
	if id, err = t.id("key"); err != nil {
		return "", "", err
	}
	secret, err := t.secret(32)
	if err != nil {
		return "", "", err
	}
	plaintext = "rm_" + base64.RawURLEncoding.EncodeToString(secret)
	return id, plaintext, t.exec(`INSERT INTO api_keys (id, account_id, name, scope, key_hash, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		id, n.AccountID, n.Name, n.Scope, HashSecret(plaintext), ms(t.now))
}

const keyColumns = `id, account_id, name, scope, created_at, revoked_at`

func (k *Key) columns(created *int64, revoked *sql.NullInt64) []any {
	return []any{&k.ID, &k.AccountID, &k.Name, &k.Scope, created, revoked}
}

// Keys lists keys, revoked ones too, the oldest first, after an id.
func (db *DB) Keys(ctx context.Context, after string, limit int) ([]Key, error) {
	return db.keys(ctx, `WHERE id > ? ORDER BY id LIMIT ?`, after, limit)
}

// NewestKeys lists those that were revoked, or the others, before an id unless that
// is empty.
func (db *DB) NewestKeys(ctx context.Context, revoked bool, before string, limit int) ([]Key, error) {
	return db.keys(ctx, `WHERE (revoked_at IS NOT NULL) = ?1 AND (?2 = '' OR id < ?2) ORDER BY id DESC LIMIT ?3`, revoked, before, limit)
}

func (db *DB) keys(ctx context.Context, where string, args ...any) (list []Key, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.each(`SELECT `+keyColumns+` FROM api_keys `+where, args, func(rows *sql.Rows) error {
			var k Key
			var created int64
			var revoked sql.NullInt64
			err := rows.Scan(k.columns(&created, &revoked)...)
			k.CreatedAt, k.RevokedAt = fromMS(created), timeOrNil(revoked)
			list = append(list, k)
			return err
		})
	})
	return list, err
}

// KeyByPlaintext authenticates an API key. One that is unknown, revoked or no
// key at all is not found, by the same work.
func (db *DB) KeyByPlaintext(ctx context.Context, plaintext string) (Key, error) {
	return db.keyBy(ctx, plaintext, `SELECT `+keyColumns+`, key_hash, NULL FROM api_keys WHERE key_hash = ?`)
}

// keyBy finds the key that a secret stands for. The query finds it by the secret's
// digest, and ends with that digest and with when the secret expires, if it does.
func (db *DB) keyBy(ctx context.Context, secret, query string) (Key, error) {
	var k Key
	digest, found := HashSecret(secret), noDigest
	var created int64
	var revoked, expires sql.NullInt64
	err := db.read(ctx, func(q querier) error {
		return orNothing(q.one(query, []any{digest}, append(k.columns(&created, &revoked), &found, &expires)...))
	})
	if err != nil {
		return Key{}, err
	}
	if !sameDigest(digest, found) || revoked.Valid || expires.Valid && expires.Int64 <= ms(db.o.Now()) {
		return Key{}, notFound("key")
	}
	k.CreatedAt = fromMS(created)
	return k, nil
}

// liveKey is a key that is not revoked.
func (t *tx) liveKey(id string) (Key, error) {
	var k Key
	var created int64
	var revoked sql.NullInt64
	err := t.one(`SELECT `+keyColumns+` FROM api_keys WHERE id = ? AND revoked_at IS NULL`, []any{id}, k.columns(&created, &revoked)...)
	if errors.Is(err, sql.ErrNoRows) {
		err = notFound("key")
	}
	k.CreatedAt = fromMS(created)
	return k, err
}

// noDigest is that of no secret.
var noDigest = strings.Repeat("0", 64)

// sameDigest takes as long for a secret that is wrong as for one that is right.
func sameDigest(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// orNothing lets a row be missing.
func orNothing(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// RevokeKey ends a key with its sessions and sign-in links for good, even after a restore (F18);
// repeating it is harmless. The last admin key stays: nobody could make another.
// Only the transaction can tell which is the last, so the file is written after
// it; after a crash in between, the next start does that.
func (db *DB) RevokeKey(ctx context.Context, id string) error {
	err := db.w.do(ctx, func(t *tx) error {
		var live, last bool
		err := t.one(`SELECT revoked_at IS NULL, scope = 'admin' AND NOT EXISTS
				(SELECT 1 FROM api_keys o WHERE o.scope = 'admin' AND o.revoked_at IS NULL AND o.id <> k.id)
			FROM api_keys k WHERE id = ?`, []any{id}, &live, &last)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return notFound("key")
		case err != nil || !live:
			return err
		case last:
			return &fence.Error{Code: CodeLastAdminKey, Message: "this is the last admin key: make another one first, then revoke this one"}
		}
		return t.revokeKey(id)
	})
	if err != nil {
		return err
	}
	return db.noteRevoked(ctx)
}

func (t *tx) revokeKey(id string) error {
	if err := t.exec(`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`, ms(t.now), id); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM sign_in_links WHERE key_id = ?`, id); err != nil {
		return err
	}
	return t.exec(`DELETE FROM sessions WHERE key_id = ?`, id)
}
