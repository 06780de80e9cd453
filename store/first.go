package store

import (
	"context"
	"encoding/hex"
	"fmt"
)

// Studio is the account that the first start makes, without a credit limit.
const Studio = "studio"

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
			if studio, _, err = t.newAccount(Studio, nil); err != nil {
				return err
			}
		}
		if err := t.exec(`DELETE FROM api_keys WHERE account_id = ?`, studio); err != nil {
			return err
		}
		_, adminKey, err = t.newKey(NewKey{studio, "first start", "admin"})
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
