package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// JobFilter narrows a list of jobs; the newest come first. What is empty does
// not narrow.
type JobFilter struct {
	AccountID    string
	Statuses     []string
	Service      string
	DeviceID     string      // an attempt ran there
	Labels       [][2]string // key and value, each of them
	Query        string      // in names and label values, or at the start of an id
	Since, Until time.Time   // of created_at: from, and before
	Before       string      // Next of the page before
	Limit        int
}

// window bounds how many jobs one page looks at: where few of them match, the
// page is short, and the next one goes on below.
const window = 1000

// JobPage is a part of a list. Next is where it goes on; empty at its end.
type JobPage struct {
	Jobs []Job
	Next string
}

// Jobs lists jobs without their attempts. Of the indexes that fit the filter, the
// one whose window reaches farthest down is walked: it is the most selective.
func (db *DB) Jobs(ctx context.Context, f JobFilter) (JobPage, error) {
	var page JobPage
	err := db.read(ctx, func(q querier) error {
		l := listing{querier: q, f: f}
		if err := l.bounds(); err != nil {
			return err
		}
		if err := l.choose(); err != nil {
			return err
		}
		ids, err := l.matching()
		if err != nil {
			return err
		}
		if page.Next, err = l.next(ids); err != nil {
			return err
		}
		page.Jobs, err = q.jobs(`WHERE j.id IN (SELECT value FROM json_each(?)) ORDER BY j.id DESC`, asJSON(ids[:min(len(ids), f.Limit)]))
		return err
	})
	return page, err
}

// listing is one page on its way.
type listing struct {
	querier
	f         JobFilter
	low, high string // ids from low to below high are asked for
	walk      walk
	floor     string // the window of walk ends here; empty: nothing is below it
}

// bounds derives ids from what is known of them. The time in an id is never
// before its job's created_at, and by ids_ahead after it at the most.
func (l *listing) bounds() error {
	l.low, l.high = "job_", "job_~"
	if l.f.Before != "" {
		l.high = l.f.Before
	}
	if at := idPrefix(l.f.Query); at != "" {
		l.low, l.high = at, min(l.high, at+"~")
	}
	if !l.f.Since.IsZero() {
		l.low = max(l.low, firstID(ceil(l.f.Since)))
	}
	if l.f.Until.IsZero() {
		return nil
	}
	ahead, err := l.idsAhead()
	l.high = min(l.high, firstID(ceil(l.f.Until)+ahead))
	return err
}

// ceil is the first whole millisecond that is not before t, as created_at is one.
func ceil(t time.Time) int64 { return ms(t.Add(time.Millisecond - 1)) }

// idsAhead is by how many milliseconds an id's time is after its job's created_at
// at the most: zero unless the clock was set back.
func (q querier) idsAhead() (ahead int64, err error) {
	err = q.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'ids_ahead'), 0)`, nil, &ahead)
	return ahead, err
}

// firstID is before every other id of that millisecond.
func firstID(at int64) string {
	var id ulid.ULID
	_ = id.SetTime(min(uint64(max(at, 0)), ulid.MaxTime())) // it refuses what is beyond MaxTime only
	return "job_" + strings.ToLower(id.String())
}

const ulidAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// idPrefix is the query if it can only be the start of an id: its time at least.
func idPrefix(query string) string {
	q := strings.ToLower(query)
	rest, is := strings.CutPrefix(q, "job_")
	if !is || len(rest) < 10 || strings.Trim(rest, ulidAlphabet) != "" {
		return ""
	}
	return q
}

// noteAhead keeps ids_ahead true of the job whose id was just made, which is of
// another time than the job where a clock that was set back has not caught up.
func (t *tx) noteAhead() error {
	ahead := int64(t.idMS) - ms(t.now)
	if ahead <= 0 {
		return nil
	}
	return t.exec(`INSERT INTO settings (name, value) VALUES ('ids_ahead', CAST(?1 AS TEXT))
		ON CONFLICT (name) DO UPDATE SET value = CAST(?1 AS TEXT) WHERE CAST(value AS INTEGER) < ?1`, ahead)
}

// choose takes the walk whose window reaches farthest down.
func (l *listing) choose() error {
	for i, w := range l.walks() {
		query, args := w.between(l.low, l.high)
		var floor string
		err := l.one(query+" LIMIT 1 OFFSET ?", append(args, window-1), &floor)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			l.walk, l.floor = w, ""
			return nil
		case err != nil:
			return err
		case i == 0 || floor < l.floor:
			l.walk, l.floor = w, floor
		}
	}
	return nil
}

// matching are the ids of the window that fit the whole filter, one more than
// the limit if there are.
func (l *listing) matching() ([]string, error) {
	query, args := l.query()
	ids := []string{}
	err := l.each(query, args, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

func (l *listing) query() (string, []any) {
	query, args := l.walk.between(max(l.low, l.floor), l.high)
	where, more := l.f.conditions()
	return `SELECT c.id FROM (` + query + `) c CROSS JOIN jobs j ON j.id = c.id WHERE ` + where + ` ORDER BY c.id DESC LIMIT ?`,
		append(append(args, more...), l.f.Limit+1)
}

// next is where the page after this one begins. It names no job of another
// account, though the window may have ended at one.
func (l *listing) next(ids []string) (string, error) {
	switch {
	case len(ids) > l.f.Limit:
		return ids[l.f.Limit-1], nil
	case l.floor == "" || l.f.AccountID == "":
		return l.floor, nil
	}
	var below sql.NullString
	err := l.one(`SELECT max(id) FROM jobs INDEXED BY jobs_account WHERE account_id = ? AND id >= ? AND id < ?`,
		[]any{l.f.AccountID, l.low, l.floor}, &below)
	if !below.Valid {
		return "", err
	}
	return below.String + "0", err // just above it
}
