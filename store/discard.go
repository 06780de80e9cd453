package store

import (
	"context"
	"database/sql"
)

// oweDiscard notes, in the transaction that ends an attempt without success,
// that what it was granted to write is nobody's (F16).
func (t *tx) oweDiscard(attemptID string) error {
	return t.exec(`INSERT INTO discards (object_key) SELECT object_key FROM artifact_grants WHERE attempt_id = ? AND bytes IS NOT NULL`, attemptID)
}

// Discards lists objects whose bytes are still to be removed, in the order of
// their keys, after one.
func (db *DB) Discards(ctx context.Context, after string, limit int) ([]string, error) {
	var keys []string
	err := db.read(ctx, func(q querier) error {
		return q.each(`SELECT object_key FROM discards WHERE object_key > ? ORDER BY object_key LIMIT ?`, []any{after, limit}, func(rows *sql.Rows) error {
			var key string
			err := rows.Scan(&key)
			keys = append(keys, key)
			return err
		})
	})
	return keys, err
}

// Discarded notes that the bytes of these objects are gone.
func (db *DB) Discarded(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	return db.w.do(ctx, func(t *tx) error {
		return t.exec(`DELETE FROM discards WHERE object_key IN (SELECT value FROM json_each(?))`, asJSON(keys))
	})
}
