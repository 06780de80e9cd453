package store

import (
	"context"
	"encoding/hex"
	"fmt"
)

// Studio is the account that the first start makes, without a credit limit.
const Studio = "studio"

// adminKeyDoubtful is the setting that says, as long as it is there, that nobody
// may have an admin key: of a database that was restored, or for which a key was
// made that is not written down yet. Its value is the id of that key.
const adminKeyDoubtful = "admin_key_doubtful"

// FirstStart makes the account studio with an admin key, and answers with the
// key's plaintext, once. It also makes a key where no admin key is live, or where
// the database was restored and none is at hand: nobody is locked out. Until
// FirstStartDone says that the key is safe, it makes another one in its place.
// Otherwise it answers with nothing. atHand is the key in the data directory.
func (db *DB) FirstStart(ctx context.Context, atHand string) (adminKey string, err error) {
	var done bool
	err = db.w.do(ctx, func(t *tx) error {
		var admin, works bool
		var doubtful, studio *string
		err := t.one(`SELECT EXISTS (SELECT 1 FROM settings WHERE name = 'first_start'),
			EXISTS (SELECT 1 FROM api_keys WHERE scope = 'admin' AND revoked_at IS NULL),
			EXISTS (SELECT 1 FROM api_keys WHERE scope = 'admin' AND revoked_at IS NULL AND key_hash = ?),
			(SELECT value FROM settings WHERE name = '`+adminKeyDoubtful+`'), (SELECT id FROM accounts ORDER BY id LIMIT 1)`,
			[]any{HashSecret(atHand)}, &done, &admin, &works, &doubtful, &studio)
		switch {
		case err != nil || done && admin && doubtful == nil:
			return err
		case done && works:
			return t.exec(`DELETE FROM settings WHERE name = '` + adminKeyDoubtful + `'`)
		}
		if studio == nil {
			id, _, err := t.newAccount(Studio, nil)
			if err != nil {
				return err
			}
			studio = &id
		}
		err = t.exec(`DELETE FROM api_keys WHERE id = ? OR account_id = ? AND NOT ?`, doubtful, *studio, done)
		if err != nil {
			return err
		}
		id, name := "", "first start"
		if done {
			name = "another start"
		}
		if id, adminKey, err = t.newKey(NewKey{*studio, name, "admin"}); err != nil {
			return err
		}
		return t.exec(`INSERT INTO settings (name, value) VALUES ('`+adminKeyDoubtful+`', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1`, id)
	})
	if adminKey != "" && done {
		db.o.Log.Warn("no admin key of this server was left or at hand: a new one takes the place of the one in admin.key")
	}
	return adminKey, err
}

// FirstStartDone says that the admin key has been written down.
func (db *DB) FirstStartDone(ctx context.Context) error {
	return db.w.do(ctx, func(t *tx) error {
		err := t.exec(`INSERT INTO settings (name, value) VALUES ('first_start', ?) ON CONFLICT (name) DO NOTHING`, fmt.Sprint(ms(t.now)))
		if err != nil {
			return err
		}
		return t.exec(`DELETE FROM settings WHERE name = '` + adminKeyDoubtful + `'`)
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

// OwnStoreID is what a store bears that this database has made. It is drawn
// before the store is, so that a first start that was cut off knows its own.
func (db *DB) OwnStoreID(ctx context.Context) (id string, err error) {
	err = db.w.do(ctx, func(t *tx) error {
		drawn, err := t.secret(13)
		if err != nil {
			return err
		}
		err = t.exec(`INSERT INTO settings (name, value) VALUES ('artifact_store_own', ?) ON CONFLICT (name) DO NOTHING`, hex.EncodeToString(drawn))
		if err != nil {
			return err
		}
		return t.one(`SELECT value FROM settings WHERE name = 'artifact_store_own'`, nil, &id)
	})
	return id, err
}

// StoreID is what tells the artifact store whose files this database knows from
// any other; "" as long as it has seen none.
func (db *DB) StoreID(ctx context.Context) (id string, err error) {
	err = db.read(ctx, func(q querier) error {
		return q.one(`SELECT coalesce((SELECT value FROM settings WHERE name = 'artifact_store'), '')`, nil, &id)
	})
	return id, err
}

// SetStoreID notes which artifact store it is.
func (db *DB) SetStoreID(ctx context.Context, id string) error {
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO settings (name, value) VALUES ('artifact_store', ?1) ON CONFLICT (name) DO UPDATE SET value = ?1`, id)
	})
}

// Writable says whether the database takes writes: for /readyz.
func (db *DB) Writable(ctx context.Context) error {
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO settings (name, value) VALUES ('ready', '1') ON CONFLICT (name) DO UPDATE SET value = '1'`)
	})
}
