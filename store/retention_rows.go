package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// RowKind is a kind of rows that retention deletes by age. A page goes through them
// in the order in which they were made, and says of each whether it was made
// before the moment and whether it may go.
type RowKind struct{ page, remove string }

// What retention removes of rows. A log goes by its run's end. A live job's
// history stays whole, and so does what is still to be delivered; the newest
// event stays because the next id follows from it.
var (
	Logs = RowKind{
		page: `SELECT l.attempt_id, a.leased_at < ?1, a.ended_at IS NOT NULL AND a.ended_at < ?1
			FROM attempt_logs l CROSS JOIN job_attempts a ON a.id = l.attempt_id WHERE l.attempt_id > ?2 ORDER BY l.attempt_id LIMIT ?3`,
		remove: `DELETE FROM attempt_logs WHERE attempt_id IN (SELECT value FROM json_each(?))`,
	}
	Events = RowKind{
		page: `SELECT e.id, e.at < ?1, e.at < ?1 AND j.id IS NULL AND e.id < (SELECT max(id) FROM events)
			FROM events e LEFT JOIN jobs j ON j.id = e.job_id AND j.finished_at IS NULL WHERE e.id > CAST(?2 AS INTEGER) ORDER BY e.id LIMIT ?3`,
		remove: `DELETE FROM events WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?))`,
	}
	Deliveries = RowKind{
		page: `SELECT id, created_at < ?1, created_at < ?1 AND state <> 'pending'
			FROM webhook_deliveries WHERE id > ?2 ORDER BY id LIMIT ?3`,
		remove: `DELETE FROM webhook_deliveries WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'pending'`,
	}
)

const (
	rowsAtOnce = 200
	// A clock that was ahead for a while has left rows that seem young amid old
	// ones: so many pages without an old one are the end.
	youngPages = 10
)

// OldRows is where a walk through rows has got to.
type OldRows struct {
	Keys  []string // of those that may go
	after string
	young int
	over  bool
}

// More says that there is another page.
func (o OldRows) More() bool { return !o.over }

// NextOldRows goes on after a page; the zero value begins with the oldest.
func (db *DB) NextOldRows(ctx context.Context, r RowKind, before time.Time, last OldRows) (next OldRows, err error) {
	err = db.read(ctx, func(q querier) error {
		next = OldRows{after: last.after, young: last.young + 1, over: true}
		n := 0
		return q.each(r.page, []any{ms(before), last.after, rowsAtOnce}, func(rows *sql.Rows) error {
			var old, free bool
			err := rows.Scan(&next.after, &old, &free)
			if free {
				next.Keys = append(next.Keys, next.after)
			}
			if old {
				next.young = 0
			}
			n++
			next.over = n < rowsAtOnce || next.young >= youngPages
			return err
		})
	})
	return next, err
}

// RemoveRows deletes a page of rows. Events go below the horizon only, which
// tells streams that some are missing.
func (db *DB) RemoveRows(ctx context.Context, r RowKind, page OldRows) (removed int64, err error) {
	if len(page.Keys) == 0 {
		return 0, nil
	}
	err = db.w.do(ctx, func(t *tx) (err error) {
		if r == Events {
			var newest int64
			if _, err := fmt.Sscan(page.Keys[len(page.Keys)-1], &newest); err != nil {
				return err
			}
			err := t.exec(`INSERT INTO settings (name, value) VALUES ('events_horizon', ?1)
				ON CONFLICT (name) DO UPDATE SET value = ?1 WHERE CAST(value AS INTEGER) < CAST(?1 AS INTEGER)`, fmt.Sprint(newest+1))
			if err != nil {
				return err
			}
		}
		removed, err = t.affect(r.remove, asJSON(page.Keys))
		return err
	})
	return removed, err
}
