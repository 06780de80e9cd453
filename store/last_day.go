package store

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// LastDay is when devices worked within a day, what ended by hour, and how long a
// run takes.
type LastDay struct {
	At      time.Time
	Worked  map[string][]Span        // by device, the oldest first, none touching the next
	Hours   []Hour                   // as in Stats
	Typical map[string]time.Duration // by service: the median of its latest runs
}

// Span is a time in which something ran.
type Span struct{ From, To time.Time }

const (
	// closeSpans is a pause too short to be seen in a day.
	closeSpans = 2 * time.Minute
	// maxSpanned bounds how many ends of a device are looked at: with more than
	// one in four seconds, it worked all day.
	maxSpanned = 20_000
	// maxTypical is of how many of the newest runs the medians are.
	maxTypical = 500
)

// LastDay looks at one account's runs; at everybody's where it is empty. How long
// a run takes is the same for all.
func (db *DB) LastDay(ctx context.Context, account string) (LastDay, error) {
	d := LastDay{At: db.o.Now().UTC().Truncate(time.Millisecond), Worked: map[string][]Span{}}
	err := db.read(ctx, func(q querier) (err error) {
		ids, err := q.machineIDs()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if d.Worked[id], err = q.worked(id, account, ms(d.At.Add(-Day)), ms(d.At)); err != nil {
				return err
			}
		}
		if d.Hours, err = q.hours(d.At, account); err != nil {
			return err
		}
		d.Typical, err = q.typical()
		return err
	})
	return d, err
}

func (q querier) machineIDs() (ids []string, err error) {
	err = q.each(`SELECT id FROM devices WHERE revoked_at IS NULL ORDER BY id LIMIT ?`, []any{maxMachines}, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// workedQuery takes together what began within the same two minutes, so that
// a day is 720 rows at the most. Each way to end is a range of the index.
var workedQuery, workedOfQuery = spans("", ""), spans(
	"a.job_id, ", "WHERE EXISTS (SELECT 1 FROM jobs j INDEXED BY jobs_account WHERE j.account_id = ?6 AND j.id = e.job_id)")

func spans(job, of string) string {
	ends := ""
	for i, status := range []string{"succeeded", "failed", "lost", "cancelled"} {
		if i > 0 {
			ends += " UNION ALL "
		}
		ends += `SELECT * FROM (SELECT ` + job + `a.leased_at, a.ended_at FROM job_attempts a INDEXED BY job_attempts_ended
			WHERE a.device_id = ?1 AND a.status = '` + status + `' AND a.ended_at > ?2 AND a.ended_at IS NOT NULL ORDER BY a.ended_at DESC LIMIT ?5)`
	}
	return `SELECT min(max(e.leased_at, ?2)) AS began, max(min(e.ended_at, ?3)) FROM (` + ends + `) e ` + of + ` GROUP BY e.leased_at / ?4 ORDER BY began`
}

func (q querier) worked(device, account string, from, to int64) ([]Span, error) {
	query, args := workedQuery, []any{device, from, to, closeSpans.Milliseconds(), maxSpanned}
	if account != "" {
		query, args = workedOfQuery, append(args, account)
	}
	var out []Span
	err := q.each(query, args, func(rows *sql.Rows) error {
		var began, ended int64
		err := rows.Scan(&began, &ended)
		out = joinSpan(out, Span{fromMS(began), fromMS(ended)})
		return err
	})
	return out, err
}

// joinSpan appends a span that begins no earlier than the last one.
func joinSpan(list []Span, s Span) []Span {
	n := len(list)
	if n == 0 || s.From.Sub(list[n-1].To) > closeSpans {
		return append(list, s)
	}
	if s.To.After(list[n-1].To) {
		list[n-1].To = s.To
	}
	return list
}

// typical is how long the newest runs that succeeded held a slot.
func (q querier) typical() (map[string]time.Duration, error) {
	took := map[string][]time.Duration{}
	err := q.each(typicalQuery, []any{maxTypical}, func(rows *sql.Rows) error {
		var service string
		var ran sql.NullInt64
		err := rows.Scan(&service, &ran)
		took[service] = appendMS(took[service], ran)
		return err
	})
	out := map[string]time.Duration{}
	for service, list := range took {
		if len(list) > 0 {
			slices.Sort(list)
			out[service] = list[len(list)/2]
		}
	}
	return out, err
}

const typicalQuery = `SELECT j.service, a.ended_at - a.leased_at
	FROM (SELECT rowid AS r, status FROM jobs INDEXED BY jobs_finished WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT ?1) e
	CROSS JOIN jobs j ON j.rowid = e.r JOIN job_attempts a ON a.job_id = j.id AND a.attempt_number = j.attempts
	WHERE e.status = 'succeeded'`
