package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"rendermac/fence"
)

// Stats is what happened within a day, to one account's jobs or to all.
type Stats struct {
	At                time.Time
	Queue             []QueueDepth
	Wait, Run, Verify Percentiles
	Devices           []DeviceLoad
	Hours             []Hour // of UTC, the oldest first; the last one is under way
}

// Percentiles are nearest ranks: the smallest value that so many are no longer
// than. All are zero where there is no value.
type Percentiles struct {
	Jobs          int
	P50, P90, P99 time.Duration
}

// DeviceLoad is how busy a device is, and was.
type DeviceLoad struct {
	ID, Name, State string
	Slots, Busy     int
	Worked          time.Duration // by all slots together, within the day before
}

// Hour is what came and what ended in an hour.
type Hour struct {
	From                                    time.Time
	Submitted, Succeeded, Failed, Cancelled int
}

// Day is how far Stats looks back.
const Day = 24 * time.Hour

// maxTimed bounds how many of the newest jobs the percentiles are of.
const maxTimed = 10_000

// Stats looks at one account's jobs; at everybody's where it is empty.
func (db *DB) Stats(ctx context.Context, account string) (Stats, error) {
	s := Stats{At: db.o.Now().UTC().Truncate(time.Millisecond)}
	err := db.read(ctx, func(q querier) (err error) {
		if s.Queue, err = q.queue(account); err != nil {
			return err
		}
		if err := q.times(&s, account); err != nil {
			return err
		}
		if s.Devices, err = q.loads(s.At); err != nil {
			return err
		}
		s.Hours, err = q.hours(s.At, account)
		return err
	})
	return s, err
}

// times are those of the newest jobs that ended within the day. A run lasts from
// its lease to its commit, a verification from there to the end.
func (q querier) times(s *Stats, account string) error {
	var waits, runs, checks []time.Duration
	err := q.each(`SELECT j.started_at - j.created_at, a.verify_started_at - a.leased_at, a.ended_at - a.verify_started_at
		FROM jobs j INDEXED BY jobs_finished LEFT JOIN job_attempts a ON a.job_id = j.id AND a.attempt_number = j.attempts
		WHERE j.finished_at > ?1 AND j.finished_at <= ?2 AND (?3 = '' OR j.account_id = ?3)
		ORDER BY j.finished_at DESC LIMIT ?4`,
		[]any{ms(s.At.Add(-Day)), ms(s.At), account, maxTimed}, func(rows *sql.Rows) error {
			var wait, run, check sql.NullInt64
			err := rows.Scan(&wait, &run, &check)
			waits, runs, checks = appendMS(waits, wait), appendMS(runs, run), appendMS(checks, check)
			return err
		})
	s.Wait, s.Run, s.Verify = percentiles(waits), percentiles(runs), percentiles(checks)
	return err
}

// appendMS takes what there is; a clock that was set back makes no negative time.
func appendMS(list []time.Duration, v sql.NullInt64) []time.Duration {
	if !v.Valid {
		return list
	}
	return append(list, time.Duration(max(0, v.Int64))*time.Millisecond)
}

func percentiles(list []time.Duration) Percentiles {
	slices.Sort(list)
	rank := func(percent int) time.Duration {
		if len(list) == 0 {
			return 0
		}
		return list[(len(list)*percent+99)/100-1]
	}
	return Percentiles{len(list), rank(50), rank(90), rank(99)}
}

// Loads are those of all devices that have not been revoked.
func (db *DB) Loads(ctx context.Context) (loads []DeviceLoad, err error) {
	err = db.read(ctx, func(q querier) error {
		loads, err = q.loads(db.o.Now().UTC().Truncate(time.Millisecond))
		return err
	})
	return loads, err
}

// loads are those of all devices that have not been revoked. Each way to end is
// named, so that the index gives each device's last day alone.
func (q querier) loads(now time.Time) ([]DeviceLoad, error) {
	var out []DeviceLoad
	err := q.each(`WITH busy (device_id, n, worked) AS MATERIALIZED (
			SELECT a.device_id, count(*), sum(max(0, ?2 - max(a.leased_at, ?1)))
			FROM job_attempts a INDEXED BY job_attempts_one_live WHERE `+live+` GROUP BY a.device_id)
		SELECT d.id, d.name, `+deviceState+`, coalesce(d.slots_override, d.agent_slots), coalesce(b.n, 0), coalesce(b.worked, 0) +
			(SELECT coalesce(sum(max(0, min(a.ended_at, ?2) - max(a.leased_at, ?1))), 0) FROM job_attempts a INDEXED BY job_attempts_ended
				WHERE a.device_id = d.id AND a.status IN ('succeeded', 'failed', 'lost', 'cancelled') AND a.ended_at > ?1 AND a.ended_at IS NOT NULL)
		FROM devices d LEFT JOIN busy b ON b.device_id = d.id WHERE d.revoked_at IS NULL ORDER BY d.id`,
		[]any{ms(now.Add(-Day)), ms(now)}, func(rows *sql.Rows) error {
			var d DeviceLoad
			var worked int64
			err := rows.Scan(&d.ID, &d.Name, &d.State, &d.Slots, &d.Busy, &worked)
			d.Worked = time.Duration(worked) * time.Millisecond
			out = append(out, d)
			return err
		})
	return out, err
}

// hours counts by ranges of two indexes and looks at no row, unless the clock was
// ever set back: then a job's id no longer says when it was submitted.
func (q querier) hours(now time.Time, account string) ([]Hour, error) {
	of, args := "", []any{}
	if account != "" {
		of, args = " AND account_id = ?5", []any{account}
	}
	ahead, err := q.idsAhead()
	if err != nil {
		return nil, err
	}
	created := ""
	if ahead > 0 {
		created = " AND created_at >= ?3 AND created_at < ?4"
	}
	var out []Hour
	for from := now.Truncate(time.Hour).Add(time.Hour - Day); !from.After(now); from = from.Add(time.Hour) {
		h, to := Hour{From: from}, from.Add(time.Hour)
		err := q.one(`SELECT (SELECT count(*) FROM jobs WHERE id >= ?1 AND id < ?2`+created+of+`),
				count(*) FILTER (WHERE status = 'succeeded'), count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'cancelled')
			FROM jobs INDEXED BY jobs_finished WHERE finished_at >= ?3 AND finished_at < ?4`+of,
			append([]any{firstID(ms(from)), firstID(ms(to) + ahead), ms(from), ms(to)}, args...), &h.Submitted, &h.Succeeded, &h.Failed, &h.Cancelled)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// QueueDepth is how many live jobs of a service stand in a status, and since when
// the oldest.
type QueueDepth struct {
	Service string
	Status  fence.JobStatus
	Jobs    int
	Oldest  time.Time // its submit
}

func (q querier) queue(account string) ([]QueueDepth, error) {
	var out []QueueDepth
	err := q.each(`SELECT service, status, count(*), min(created_at) FROM jobs INDEXED BY jobs_live
		WHERE (status = 'queued' OR status = 'active' OR status = 'verifying' OR status = 'cancelling') AND (?1 = '' OR account_id = ?1)
		GROUP BY status, service`, []any{account}, func(rows *sql.Rows) error {
		var d QueueDepth
		var oldest int64
		err := rows.Scan(&d.Service, &d.Status, &d.Jobs, &oldest)
		d.Oldest = fromMS(oldest)
		out = append(out, d)
		return err
	})
	slices.SortFunc(out, func(a, b QueueDepth) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Status, b.Status))
	})
	return out, err
}
