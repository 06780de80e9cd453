package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
)

// Studio is the account that the first start makes, without a credit limit.
const Studio = "studio"

// Key is an API key as a request presents it.
type Key struct {
	ID, AccountID string
	Scope         string // read, submit or admin
}

// FirstStart makes the account studio with an admin key, and answers with the
// key's plaintext, once. Until FirstStartDone says that the key is safe, it makes
// another one in its place: a crash in between locks nobody out. Afterwards it
// answers with nothing.
func (db *DB) FirstStart(ctx context.Context) (adminKey string, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		var done bool
		var studio string
		err := t.one(`SELECT EXISTS (SELECT 1 FROM settings WHERE name = 'first_start'),
			coalesce((SELECT id FROM accounts ORDER BY id LIMIT 1), '')`, nil, &done, &studio)
		if err != nil || done {
			return err
		}
		if studio == "" {
			if studio, err = t.newAccount(Studio); err != nil {
				return err
			}
		}
		if err := t.exec(`DELETE FROM api_keys WHERE account_id = ?`, studio); err != nil {
			return err
		}
		adminKey, err = t.newKey(studio, "first start", "admin")
		return err
	})
	return adminKey, err
}

// FirstStartDone says that the admin key has been written down.
func (db *DB) FirstStartDone(ctx context.Context) error {
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO settings (name, value) VALUES ('first_start', ?) ON CONFLICT (name) DO NOTHING`, fmt.Sprint(ms(t.now)))
	})
}

func (t *tx) newAccount(name string) (string, error) {
	id, err := t.id("acc")
	if err != nil {
		return "", err
	}
	secret, err := t.secret(24)
	if err != nil {
		return "", err
	}
	return id, t.exec(`INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES (?, ?, ?, ?)`,
		id, name, "whsec_"+base64.StdEncoding.EncodeToString(secret), ms(t.now))
}

func (t *tx) newKey(account, name, scope string) (string, error) {
	id, err := t.id("key")
	if err != nil {
		return "", err
	}
	secret, err := t.secret(32)
	if err != nil {
		return "", err
	}
	plaintext := "rm_" + base64.RawURLEncoding.EncodeToString(secret)
	return plaintext, t.exec(`INSERT INTO api_keys (id, account_id, name, scope, key_hash, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
		id, account, name, scope, HashSecret(plaintext), ms(t.now))
}

// KeyByPlaintext authenticates an API key by its digest; a revoked one is not found.
func (db *DB) KeyByPlaintext(ctx context.Context, plaintext string) (Key, error) {
	var k Key
	err := db.read(ctx, func(q querier) error {
		return q.one(`SELECT id, account_id, scope FROM api_keys WHERE key_hash = ? AND revoked_at IS NULL`,
			[]any{HashSecret(plaintext)}, &k.ID, &k.AccountID, &k.Scope)
	})
	return k, err
}

// SigningKey is the installation's key for signed URLs, made at first use.
func (db *DB) SigningKey(ctx context.Context) ([]byte, error) {
	var text string
	err := db.w.do(ctx, func(t *tx) error {
		secret, err := t.secret(32)
		if err != nil {
			return err
		}
		err = t.exec(`INSERT INTO settings (name, value) VALUES ('url_signing_key', ?) ON CONFLICT (name) DO NOTHING`, hex.EncodeToString(secret))
		if err != nil {
			return err
		}
		return t.one(`SELECT value FROM settings WHERE name = 'url_signing_key'`, nil, &text)
	})
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

// Writable says whether the database takes writes: for /readyz.
func (db *DB) Writable(ctx context.Context) error {
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO settings (name, value) VALUES ('ready', '1') ON CONFLICT (name) DO UPDATE SET value = '1'`)
	})
}
