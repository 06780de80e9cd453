package store

import (
	"context"
	"database/sql"
	"time"
)

// Outgoing is an account that has something to send, and when the first of it
// is due.
type Outgoing struct {
	AccountID string
	Due       time.Time
}

// Lane is what one account has to send to one host.
type Lane struct {
	Name string
	Due  time.Time // its first try
}

// Delivery is a webhook that is due, or will be.
type Delivery struct {
	ID, AccountID, JobID, Lane string
	URL, Type, Body            string
	Round, Tries               int // which beginning this is, and how many tries came after it
	Due                        time.Time
	Secrets                    []string // each signs; the one before a rotation for as long as it counts
}

const outgoingQuery = `WITH RECURSIVE outgoing (account) AS (
		SELECT min(account_id) FROM webhook_lanes
		UNION ALL
		SELECT (SELECT min(account_id) FROM webhook_lanes WHERE account_id > account) FROM outgoing WHERE account IS NOT NULL)
	SELECT account, (SELECT min(due) FROM webhook_lanes WHERE account_id = account) AS due
	FROM outgoing WHERE account IS NOT NULL ORDER BY due`

// Outgoing are the accounts with something pending, the most urgent first.
// However much waits of one, and to however many hosts, it costs one look.
func (db *DB) Outgoing(ctx context.Context) ([]Outgoing, error) {
	var list []Outgoing
	err := db.read(ctx, func(q querier) error {
		return q.each(outgoingQuery, nil, func(rows *sql.Rows) error {
			var o Outgoing
			var due int64
			err := rows.Scan(&o.AccountID, &due)
			o.Due = fromMS(due)
			list = append(list, o)
			return err
		})
	})
	return list, err
}

const lanesQuery = `SELECT lane, due FROM webhook_lanes WHERE account_id = ? ORDER BY due LIMIT ?`

// Lanes are an account's most urgent ones.
func (db *DB) Lanes(ctx context.Context, account string, limit int) ([]Lane, error) {
	var lanes []Lane
	err := db.read(ctx, func(q querier) error {
		return q.each(lanesQuery, []any{account, limit}, func(rows *sql.Rows) error {
			var l Lane
			var due int64
			err := rows.Scan(&l.Name, &due)
			l.Due = fromMS(due)
			lanes = append(lanes, l)
			return err
		})
	})
	return lanes, err
}

// moveLane says anew when the first of a delivery's lane is due: whatever changes
// a delivery's state or its time ends with it.
func (t *tx) moveLane(delivery string) error {
	if err := t.exec(`DELETE FROM webhook_lanes WHERE lane = (SELECT lane FROM webhook_deliveries WHERE id = ?)`, delivery); err != nil {
		return err
	}
	return t.exec(firstIntoLane, delivery)
}

const firstIntoLane = `INSERT INTO webhook_lanes SELECT lane, account_id, next_try_at FROM webhook_deliveries
	WHERE state = 'pending' AND lane = (SELECT lane FROM webhook_deliveries WHERE id = ?) ORDER BY next_try_at LIMIT 1`

const firstOfQuery = `SELECT w.id, w.account_id, w.job_id, w.lane, w.url, w.type, w.body, w.round, w.tries, w.next_try_at,
		a.webhook_secret, CASE WHEN a.webhook_before_until > ? THEN a.webhook_secret_before END
	FROM webhook_deliveries w JOIN accounts a ON a.id = w.account_id
	WHERE w.state = 'pending' AND w.lane = ? ORDER BY w.next_try_at, w.rowid LIMIT ?`

// FirstOf are the first pending deliveries of a lane, due or not yet.
func (db *DB) FirstOf(ctx context.Context, lane string, limit int) ([]Delivery, error) {
	var list []Delivery
	err := db.read(ctx, func(q querier) error {
		return q.each(firstOfQuery, []any{ms(db.o.Now()), lane, limit}, func(rows *sql.Rows) error {
			var d Delivery
			var due int64
			var secret string
			var before sql.NullString
			err := rows.Scan(&d.ID, &d.AccountID, &d.JobID, &d.Lane, &d.URL, &d.Type, &d.Body, &d.Round, &d.Tries, &due, &secret, &before)
			d.Due, d.Secrets = fromMS(due), []string{secret}
			if before.Valid {
				d.Secrets = append(d.Secrets, before.String)
			}
			list = append(list, d)
			return err
		})
	})
	return list, err
}
