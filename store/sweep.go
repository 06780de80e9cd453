package store

import (
	"context"
	"database/sql"
	"time"

	"rendermac/fence"
)

// sweepBatch bounds one sweep, so that it never holds up the writer for long.
const sweepBatch = 200

// SweepOutcome is what time alone has ended (F13), and when to look again; zero
// is when something new appears.
type SweepOutcome struct {
	Ended   []Ended
	Failed  []string // queued jobs past their admission deadline
	Offline []string // devices unheard for their TTL
	Told    int      // jobs that now know that one they need has ended
	Next    time.Time
}

// Sweep ends expired leases, late queued jobs and silent devices (F13), and goes
// on with what earlier ends have left to tell.
func (db *DB) Sweep(ctx context.Context) (SweepOutcome, error) {
	var out SweepOutcome
	err := db.w.do(ctx, func(t *tx) (err error) {
		out = SweepOutcome{}
		if out.Ended, err = t.sweepLeases(); err != nil {
			return err
		}
		if out.Failed, err = t.sweepQueue(); err != nil {
			return err
		}
		if out.Offline, err = t.sweepDevices(); err != nil {
			return err
		}
		told := t.told
		if err = t.tellOn(); err != nil {
			return err
		}
		out.Told = t.told - told
		out.Next, err = t.nextDeadline()
		return err
	})
	return out, err
}

func (t *tx) sweepLeases() ([]Ended, error) {
	expired, err := t.runs(`SELECT `+runColumns+` FROM job_attempts a INDEXED BY job_attempts_one_live JOIN jobs j ON j.id = a.job_id
		WHERE `+live+`
		AND a.status <> 'committing' AND a.lease_expires_at <= ?
		ORDER BY a.lease_expires_at LIMIT ?`, ms(t.now), sweepBatch)
	if err != nil {
		return nil, err
	}
	var out []Ended
	for _, r := range expired {
		e, err := t.lose(r, fence.LeaseExpired, "the Mac was not heard of for a whole lease")
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func (t *tx) sweepQueue() ([]string, error) {
	var late []string
	err := t.each(`SELECT id FROM jobs WHERE status = 'queued' AND admission_deadline <= ? LIMIT ?`,
		[]any{ms(t.now), sweepBatch}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			late = append(late, id)
			return err
		})
	if err != nil {
		return nil, err
	}
	for _, id := range late {
		r, err := t.jobRun(id)
		if err != nil {
			return nil, err
		}
		if r.job.Status != fence.JobQueued { // failed a moment ago, as one that waited for another
			continue
		}
		if err := t.settle(r, fence.JobFailed, fence.NoCapacity, "no Mac took the job before its admission deadline"); err != nil {
			return nil, err
		}
	}
	return late, nil
}

func (t *tx) sweepDevices() ([]string, error) { return t.silence(t.now.Add(-t.o.DeviceTTL)) }

// silence takes for offline the devices that were not heard after a moment.
func (t *tx) silence(heard time.Time) ([]string, error) {
	var silent []string
	err := t.each(`UPDATE devices SET online = 0 WHERE online = 1 AND last_seen_at <= ? RETURNING id`,
		[]any{ms(heard)}, func(rows *sql.Rows) error {
			var id string
			err := rows.Scan(&id)
			silent = append(silent, id)
			return err
		})
	if err != nil {
		return nil, err
	}
	for _, id := range silent {
		if err := t.event("device.offline", ref{device: id}, "{}"); err != nil {
			return nil, err
		}
	}
	return silent, nil
}

// nextDeadline is when time alone will next end something.
func (t *tx) nextDeadline() (time.Time, error) {
	var lease, admission, seen sql.NullInt64
	err := t.one(`SELECT
		(SELECT min(lease_expires_at) FROM job_attempts a INDEXED BY job_attempts_one_live WHERE `+live+` AND a.status <> 'committing'),
		(SELECT min(admission_deadline) FROM jobs WHERE status = 'queued' AND admission_deadline IS NOT NULL),
		(SELECT min(last_seen_at) + ? FROM devices WHERE online = 1)`, []any{t.o.DeviceTTL.Milliseconds()}, &lease, &admission, &seen)
	var next time.Time
	for _, at := range []sql.NullInt64{lease, admission, seen} {
		next = fence.Sooner(next, timeOrZero(at))
	}
	return next, err
}
