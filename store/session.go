package store

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"time"

	"rendermac/fence"
)

const (
	// SessionTTL is how long someone stays signed in to the dashboard.
	SessionTTL = 30 * 24 * time.Hour
	// SignInTTL is how long a sign-in link works.
	SignInTTL = 15 * time.Minute

	// linksKept is how long a link that works no more is still told from a wrong one.
	linksKept = 24 * time.Hour
)

// CodeBadSignIn refuses a sign-in link that is wrong, used or late; the message
// says which. Nobody guesses 32 bytes, so that saying it helps only its owner.
const CodeBadSignIn = "bad_sign_in"

// SignIn is a fresh sign-in link's token, shown once.
type SignIn struct {
	Token     string
	ExpiresAt time.Time
}

// SignedIn is a session of the dashboard as it is opened: what the browser keeps,
// shown once, and whose key it acts as.
type SignedIn struct {
	Token     string
	Key       Key
	ExpiresAt time.Time
}

// CreateSignIn makes a link that signs in once as this key.
func (db *DB) CreateSignIn(ctx context.Context, keyID string) (SignIn, error) {
	var link SignIn
	err := db.w.do(ctx, func(t *tx) (err error) {
		if _, err := t.liveKey(keyID); err != nil {
			return err
		}
		link.ExpiresAt = t.now.Add(SignInTTL)
		if link.Token, err = t.webSecret("rml_"); err != nil {
			return err
		}
		return t.exec(`INSERT INTO sign_in_links (token_hash, key_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
			HashSecret(link.Token), keyID, ms(t.now), ms(link.ExpiresAt))
	})
	return link, err
}

// RedeemSignIn spends a link and opens a session of its key. A link that works no
// more is refused by a read: guesses cost no write.
func (db *DB) RedeemSignIn(ctx context.Context, token string) (SignedIn, error) {
	digest := HashSecret(token)
	err := db.read(ctx, func(q querier) error {
		_, err := q.goodLink(digest, db.o.Now())
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	var s SignedIn
	err = db.w.do(ctx, func(t *tx) error {
		key, err := t.goodLink(digest, t.now)
		if err != nil {
			return err
		}
		if err := t.change("spend a sign-in link", `UPDATE sign_in_links SET used_at = ? WHERE token_hash = ? AND used_at IS NULL`, ms(t.now), digest); err != nil {
			return err
		}
		s, err = t.openSession(key)
		return err
	})
	return s, err
}

// goodLink is the key that a link signs in as. A link ends with its key.
func (q querier) goodLink(digest string, now time.Time) (keyID string, err error) {
	var expires int64
	var used bool
	err = q.one(`SELECT key_id, expires_at, used_at IS NOT NULL FROM sign_in_links WHERE token_hash = ?`, []any{digest}, &keyID, &expires, &used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", badSignIn("is wrong, or too old to be known")
	case err != nil:
		return "", err
	case used:
		return "", badSignIn("was used before, and works once")
	case expires <= ms(now):
		return "", badSignIn("is older than 15 minutes")
	}
	return keyID, nil
}

func badSignIn(why string) error {
	return &fence.Error{Code: CodeBadSignIn, Message: "this sign-in link " + why + ": make another with rendermac dashboard"}
}

// OpenSession signs in as the key with this plaintext. One that does not work is
// refused as KeyByPlaintext does.
func (db *DB) OpenSession(ctx context.Context, plaintext string) (SignedIn, error) {
	key, err := db.KeyByPlaintext(ctx, plaintext)
	if err != nil {
		return SignedIn{}, err
	}
	var s SignedIn
	err = db.w.do(ctx, func(t *tx) (err error) {
		s, err = t.openSession(key.ID)
		return err
	})
	return s, err
}

func (t *tx) openSession(keyID string) (s SignedIn, err error) {
	if s.Key, err = t.liveKey(keyID); err != nil {
		return SignedIn{}, err
	}
	if s.Token, err = t.webSecret("rms_"); err != nil {
		return SignedIn{}, err
	}
	s.ExpiresAt = t.now.Add(SessionTTL)
	return s, t.exec(`INSERT INTO sessions (token_hash, key_id, created_at, expires_at) VALUES (?, ?, ?, ?)`,
		HashSecret(s.Token), keyID, ms(t.now), ms(s.ExpiresAt))
}

func (t *tx) webSecret(prefix string) (string, error) {
	secret, err := t.secret(32)
	return prefix + base64.RawURLEncoding.EncodeToString(secret), err
}

// KeyBySession is the key that a session acts as. One that is unknown, expired,
// or ended with its key is not found, by the same work.
func (db *DB) KeyBySession(ctx context.Context, token string) (Key, error) {
	return db.keyBy(ctx, token, `SELECT `+keyColumns+`, token_hash, expires_at FROM api_keys,
		(SELECT token_hash, key_id, expires_at FROM sessions WHERE token_hash = ?) WHERE id = key_id`)
}

// CloseSession signs out; repeating it is harmless.
func (db *DB) CloseSession(ctx context.Context, token string) error {
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`DELETE FROM sessions WHERE token_hash = ?`, HashSecret(token))
	})
}

// ForgetSessions deletes sessions that have expired, and links that have long
// been of no use.
func (db *DB) ForgetSessions(ctx context.Context) error {
	err := db.forget(ctx, `DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= ? LIMIT ?)`, 0)
	if err != nil {
		return err
	}
	return db.forget(ctx, `DELETE FROM sign_in_links WHERE token_hash IN (SELECT token_hash FROM sign_in_links WHERE expires_at <= ? LIMIT ?)`, linksKept)
}
