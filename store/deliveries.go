package store

import (
	"context"
	"database/sql"
	"strings"
	"time"
)

// DeliveryRow is a webhook as the API lists it.
type DeliveryRow struct {
	ID, AccountID, JobID string
	URL, Type, State     string
	Tries                int
	NextTryAt            *time.Time
	LastStatus           *int
	LastError            *string
	CreatedAt            time.Time
	DeliveredAt          *time.Time
}

// DeliveryFilter narrows a list of deliveries; the newest come first.
type DeliveryFilter struct {
	State, JobID, AccountID string // empty: any
	Before                  string // the last id of the page before
	Limit                   int
}

// index is the one that finds the fewest rows; left to itself SQLite may walk all
// of an account's for the few that are pending.
func (f DeliveryFilter) index() string {
	switch {
	case f.JobID != "":
		return "INDEXED BY webhook_deliveries_job "
	case (f.State == "pending" || f.State == "failed") && f.AccountID != "":
		return "INDEXED BY webhook_deliveries_" + f.State + "_of "
	case f.State == "pending" || f.State == "failed":
		return "INDEXED BY webhook_deliveries_" + f.State + " "
	case f.AccountID != "":
		return "INDEXED BY webhook_deliveries_account "
	}
	return ""
}

// inState is written out, so that a partial index can answer.
var inState = map[string]string{"pending": "state = 'pending'", "delivered": "state = 'delivered'", "failed": "state = 'failed'"}

// query is what stands behind FROM webhook_deliveries.
func (f DeliveryFilter) query() (string, []any) {
	where, args := []string{"1 = 1"}, []any{}
	for _, narrow := range []struct{ clause, value string }{{"job_id = ?", f.JobID}, {"account_id = ?", f.AccountID}, {"id < ?", f.Before}} {
		if narrow.value != "" {
			where, args = append(where, narrow.clause), append(args, narrow.value)
		}
	}
	if f.State != "" {
		where = append(where, inState[f.State])
	}
	return f.index() + "WHERE " + strings.Join(where, " AND ") + " ORDER BY id DESC LIMIT ?", append(args, f.Limit)
}

// Deliveries lists webhooks.
func (db *DB) Deliveries(ctx context.Context, f DeliveryFilter) ([]DeliveryRow, error) {
	var list []DeliveryRow
	where, args := f.query()
	err := db.read(ctx, func(q querier) (err error) {
		list, err = q.deliveries(where, args...)
		return err
	})
	return list, err
}

func (q querier) deliveries(where string, args ...any) ([]DeliveryRow, error) {
	var list []DeliveryRow
	err := q.each(`SELECT id, account_id, job_id, url, type, state, tries, next_try_at, last_status, last_error, created_at, delivered_at
		FROM webhook_deliveries `+where, args, func(rows *sql.Rows) error {
		var d DeliveryRow
		var created int64
		var next, delivered sql.NullInt64
		err := rows.Scan(&d.ID, &d.AccountID, &d.JobID, &d.URL, &d.Type, &d.State, &d.Tries, &next, &d.LastStatus, &d.LastError, &created, &delivered)
		d.NextTryAt, d.DeliveredAt, d.CreatedAt = timeOrNil(next), timeOrNil(delivered), fromMS(created)
		list = append(list, d)
		return err
	})
	return list, err
}

// Redeliver begins a delivery anew, whatever has come of it: the same id and
// body, so that a receiver which knows it already may drop it; ten tries, the
// first of them now.
func (db *DB) Redeliver(ctx context.Context, id string) (DeliveryRow, error) {
	var row DeliveryRow
	err := db.w.do(ctx, func(t *tx) error {
		rows, err := t.deliveries(`WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound("delivery")
		}
		row, t.outbox = rows[0], true
		now := t.now
		err = t.change("redeliver", `UPDATE webhook_deliveries SET state = 'pending', round = round + 1, tries = 0, next_try_at = ?, delivered_at = NULL
			WHERE id = ? AND state = ? AND tries = ?`, ms(now), id, row.State, row.Tries)
		if err != nil {
			return err
		}
		row.State, row.Tries, row.NextTryAt, row.DeliveredAt = "pending", 0, &now, nil
		return t.moveLane(id)
	})
	return row, err
}
