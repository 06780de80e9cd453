package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"rendermac/fence"
)

// CodeKeyReused refuses a key that came before with another body.
const CodeKeyReused = "idempotency_key_reused"

// keysKept is how long a key is known.
const keysKept = 24 * time.Hour

// Once names a request that is carried out once, however often it comes: the
// caller's own key, per account and route. The zero value names none.
type Once struct {
	AccountID, Route, Key string
	BodyHash              string // SHA-256 of the body as it came
	Status                int    // of the answer
}

// Made is what a request has made; Replayed says that an earlier one has.
type Made struct {
	IDs      []string
	Replayed bool
}

// Recall finds what an earlier request of this key has made, or nothing.
func (db *DB) Recall(ctx context.Context, o Once) (made Made, err error) {
	err = db.read(ctx, func(q querier) error {
		made, err = q.recall(o, db.o.Now())
		return err
	})
	return made, err
}

func (q querier) recall(o Once, now time.Time) (Made, error) {
	if o.Key == "" {
		return Made{}, nil
	}
	var hash, ids string
	err := q.one(`SELECT body_hash, resource_ids FROM idempotency_keys WHERE account_id = ? AND route = ? AND key = ? AND created_at > ?`,
		[]any{o.AccountID, o.Route, o.Key, ms(now.Add(-keysKept))}, &hash, &ids)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Made{}, nil
	case err != nil:
		return Made{}, err
	case hash != o.BodyHash:
		return Made{}, &fence.Error{Code: CodeKeyReused, Message: "this Idempotency-Key came before with another body: use a new key for a new request"}
	}
	m := Made{Replayed: true}
	return m, json.Unmarshal([]byte(ids), &m.IDs)
}

// once makes what fn makes unless its key has been here before. The key's row is
// of the same transaction, so that neither is ever there without the other.
func (t *tx) once(o Once, fn func() ([]string, error)) (Made, error) {
	m, err := t.recall(o, t.now)
	if err != nil || m.Replayed {
		return m, err
	}
	if m.IDs, err = fn(); err != nil || o.Key == "" {
		return m, err
	}
	return m, t.exec(`INSERT INTO idempotency_keys (account_id, route, key, body_hash, status, resource_ids, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (account_id, route, key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
			resource_ids = excluded.resource_ids, created_at = excluded.created_at`, // what stood there has expired
		o.AccountID, o.Route, o.Key, o.BodyHash, o.Status, asJSON(m.IDs), ms(t.now))
}

// forgetAtOnce bounds how many keys one transaction forgets.
const forgetAtOnce = 500

// ForgetKeys deletes what has expired.
func (db *DB) ForgetKeys(ctx context.Context) error {
	return db.forget(ctx, `DELETE FROM idempotency_keys WHERE (account_id, route, key) IN
		(SELECT account_id, route, key FROM idempotency_keys WHERE created_at <= ? LIMIT ?)`, keysKept)
}

// forget deletes, in small batches, what has been there for longer than it is
// kept: the query takes the moment before which that is, and how many at once.
func (db *DB) forget(ctx context.Context, query string, kept time.Duration) error {
	for {
		var gone int64
		err := db.w.do(ctx, func(t *tx) (err error) {
			gone, err = t.affect(query, ms(t.now.Add(-kept)), forgetAtOnce)
			return err
		})
		if err != nil || gone < forgetAtOnce {
			return err
		}
	}
}

// goneIfMissing words that what a key once made is there no more.
func goneIfMissing(err error) error {
	if errors.Is(err, sql.ErrNoRows) || fence.CodeOf(err) == fence.CodeNotFound {
		return &fence.Error{Code: fence.CodeNotFound, Message: "what was made for this Idempotency-Key has been removed since: use a new key to make another"}
	}
	return err
}
