package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Event is one row of the history. Its id grows in the order of the commits, so
// that whoever has read up to an id has missed nothing below it.
type Event struct {
	ID        int64
	At        time.Time
	Type      string
	AccountID *string
	JobID     *string
	AttemptID *string
	DeviceID  *string
	Data      json.RawMessage
}

// EventFilter narrows the history; an empty field narrows nothing.
type EventFilter struct{ AccountID, JobID string }

// eventStretch is how many ids one read looks at. Events have no index by
// account, which every change of a status would write to; so a reader goes
// through them in stretches, each of them short. A stretch begins at an event:
// after a restore there are more ids without one than could ever be walked.
var eventStretch int64 = 50_000

// Appended says that a batch with events has been committed: look again.
func (db *DB) Appended() <-chan struct{} { return db.w.appended }

// EventsAfter lists at most limit events with ids above after, oldest first.
// Everything that the filter lets through up to upTo is among them.
func (db *DB) EventsAfter(ctx context.Context, f EventFilter, after int64, limit int) (list []Event, upTo int64, err error) {
	err = db.read(ctx, func(q querier) error {
		_, newest, err := q.eventIDs()
		if err != nil {
			return err
		}
		if upTo = newest; f.AccountID != "" {
			var next int64
			if err := q.one(`SELECT coalesce(min(id), 0) FROM events WHERE id > ?`, []any{after}, &next); err != nil {
				return err
			}
			upTo = min(upTo, max(after, next-1)+eventStretch)
		}
		list, err = q.events(f, `id > ? AND id <= ? ORDER BY id LIMIT ?`, after, upTo, limit)
		return err
	})
	if len(list) == limit {
		upTo = list[limit-1].ID
	}
	return list, upTo, err
}

// maxStretches bounds one look into the past: an account with few events among
// many of others gets short pages.
const maxStretches = 4

// EventsBefore lists at most limit events with ids below before, newest first;
// zero begins with the newest. A list may be shorter though there are more: left
// is where to go on, zero at the end.
func (db *DB) EventsBefore(ctx context.Context, f EventFilter, before int64, limit int) (list []Event, left int64, err error) {
	horizon, newest, err := db.EventIDs(ctx)
	if before <= 0 || before > newest {
		before = newest + 1
	}
	for n := 0; err == nil && n < maxStretches && len(list) < limit && before > horizon; n++ {
		var from int64
		var more []Event
		err = db.read(ctx, func(q querier) (err error) {
			if err := q.one(`SELECT coalesce(max(id), 0) FROM events WHERE id < ?`, []any{before}, &from); err != nil {
				return err
			}
			from = max(0, from+1-eventStretch)
			more, err = q.events(f, `id >= ? AND id < ? ORDER BY id DESC LIMIT ?`, from, before, limit-len(list))
			return err
		})
		list, before = slices.Concat(list, more), from
	}
	if before <= horizon {
		before = 0
	}
	return list, before, err
}

// EventIDs are the horizon, below which events may have been deleted, and the
// newest event's id; zero where there is none.
func (db *DB) EventIDs(ctx context.Context) (horizon, newest int64, err error) {
	err = db.read(ctx, func(q querier) (err error) {
		horizon, newest, err = q.eventIDs()
		return err
	})
	return horizon, newest, err
}

func (q querier) eventIDs() (horizon, newest int64, err error) {
	err = q.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'events_horizon'), 0),
		coalesce((SELECT max(id) FROM events), 0)`, nil, &horizon, &newest)
	return horizon, newest, err
}

func (q querier) events(f EventFilter, rest string, args ...any) ([]Event, error) {
	var where strings.Builder
	var values []any
	for _, only := range [][2]string{{"account_id", f.AccountID}, {"job_id", f.JobID}} {
		if only[1] != "" {
			where.WriteString(only[0] + " = ? AND ")
			values = append(values, only[1])
		}
	}
	var list []Event
	err := q.each(`SELECT id, at, type, account_id, job_id, attempt_id, device_id, data FROM events WHERE `+where.String()+rest,
		append(values, args...), func(rows *sql.Rows) error {
			var e Event
			var at int64
			var data string
			err := rows.Scan(&e.ID, &at, &e.Type, &e.AccountID, &e.JobID, &e.AttemptID, &e.DeviceID, &data)
			e.At, e.Data = fromMS(at), json.RawMessage(data)
			list = append(list, e)
			return err
		})
	return list, err
}
