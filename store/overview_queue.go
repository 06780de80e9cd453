package store

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"rendermac/fence"
)

// Place is a job's in the queue. Its JobLine has a name where it is the account's,
// and among the first of those.
type Place struct {
	JobLine
	Needs    fence.Needs
	Priority int
	Tried    map[string]time.Time // devices that have ended it, and until when each leaves it alone (F12)

	attempts int
}

// Held is a queued job that nothing takes yet: it needs another job's output, or
// the server still reads its inputs.
type Held struct {
	JobLine
	WaitingOn *JobLine // nil where it is being read
}

// next is what the queue holds. The account's own jobs are looked for among the
// first maxAhead places.
func (q querier) next(o *Overview, account string) error {
	look := overviewHead
	if account != "" {
		look = maxAhead
	}
	var err error
	if o.Queue, err = q.head(look, ms(o.At)); err != nil {
		return err
	}
	o.Queue = upToLast(o.Queue, account)
	if err := q.describe(o.Queue, account); err != nil {
		return err
	}
	if o.Held, err = q.held(account); err != nil {
		return err
	}
	o.Queued, o.QueuedMore, err = q.countQueued(account)
	return err
}

const placesQuery = `SELECT id, account_id, service, priority, attempts FROM jobs INDEXED BY jobs_queue
	WHERE status = 'queued' AND waiting_on IS NULL AND reading = 0 AND needs = ?1 AND (admission_deadline IS NULL OR admission_deadline > ?2)
	ORDER BY priority DESC, id LIMIT ?3`

// head is the first n places over all classes: by priority, then the oldest, as
// the matcher takes them.
func (q querier) head(n int, now int64) ([]Place, error) {
	classes, err := q.classes()
	if err != nil {
		return nil, err
	}
	var all []Place
	for _, class := range classes {
		var needs fence.Needs
		if err := json.Unmarshal([]byte(class), &needs); err != nil {
			return nil, err
		}
		err := q.each(placesQuery, []any{class, now, n}, func(rows *sql.Rows) error {
			p := Place{Needs: needs}
			err := rows.Scan(&p.ID, &p.AccountID, &p.Service, &p.Priority, &p.attempts)
			all = append(all, p)
			return err
		})
		if err != nil {
			return nil, err
		}
		slices.SortFunc(all, func(a, b Place) int { return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID)) })
		all = all[:min(n, len(all))]
	}
	return all, nil
}

// upToLast ends with the last of the account's first jobs: nobody asks for what
// comes after it.
func upToLast(queue []Place, account string) []Place {
	own, end := 0, 0
	for i, p := range queue {
		if own < overviewHead && (account == "" || p.AccountID == account) {
			own, end = own+1, i+1
		}
	}
	return queue[:end]
}

// describe names the account's jobs, and finds who has tried any before.
func (q querier) describe(queue []Place, account string) error {
	var own []*JobLine
	tried, ids := map[string]*Place{}, []string{}
	for i := range queue {
		p := &queue[i]
		if account == "" || p.AccountID == account {
			own = append(own, &p.JobLine)
		}
		if p.attempts > 0 {
			tried[p.ID], ids = p, append(ids, p.ID)
			p.Tried = map[string]time.Time{}
		}
	}
	if err := q.name(own); err != nil || len(ids) == 0 {
		return err
	}
	return q.each(`SELECT a.job_id, a.device_id, coalesce(max(a.retry_after), 0) FROM json_each(?) k CROSS JOIN job_attempts a ON a.job_id = k.value
		GROUP BY a.job_id, a.device_id`, []any{asJSON(ids)}, func(rows *sql.Rows) error {
		var job, device string
		var until int64
		err := rows.Scan(&job, &device, &until)
		if err == nil {
			tried[job].Tried[device] = fromMS(until)
		}
		return err
	})
}

const (
	readingQuery = `SELECT id, '' FROM (SELECT id, account_id FROM jobs INDEXED BY jobs_reading
		WHERE status = 'queued' AND reading > 0 ORDER BY id LIMIT ?1) WHERE ?2 = '' OR account_id = ?2 LIMIT ?3`
	waitingQuery = `SELECT id, waiting_on FROM (SELECT id, account_id, waiting_on FROM jobs INDEXED BY jobs_waiting
		WHERE waiting_on IS NOT NULL AND status = 'queued' AND reading = 0 ORDER BY waiting_on LIMIT ?1) WHERE ?2 = '' OR account_id = ?2 LIMIT ?3`
)

func (q querier) held(account string) ([]Held, error) {
	var out []Held
	for _, query := range []string{readingQuery, waitingQuery} {
		err := q.each(query, []any{maxCounted, account, overviewHead - len(out)}, func(rows *sql.Rows) error {
			var h Held
			var on string
			err := rows.Scan(&h.ID, &on)
			if on != "" {
				h.WaitingOn = &JobLine{ID: on}
			}
			out = append(out, h)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range out { // one by one: several may wait for the same
		named := []*JobLine{&out[i].JobLine}
		if out[i].WaitingOn != nil {
			named = append(named, out[i].WaitingOn)
		}
		if err := q.name(named); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const (
	queuedQuery = `SELECT count(*), count(*) = ?1 FROM (SELECT 1 FROM jobs INDEXED BY jobs_live WHERE ` + liveJobs + ` AND status = 'queued' LIMIT ?1)`
	// The oldest of everybody's are looked through for the account's.
	queuedOfQuery = `SELECT count(*) FILTER (WHERE account_id = ?2), count(*) = ?1 FROM (SELECT account_id FROM jobs INDEXED BY jobs_live
		WHERE ` + liveJobs + ` AND status = 'queued' ORDER BY id LIMIT ?1)`
)

// countQueued says how many jobs of the account are queued, and whether there may be more.
func (q querier) countQueued(account string) (n int, more bool, err error) {
	if account == "" {
		err = q.one(queuedQuery, []any{maxCounted}, &n, &more)
	} else {
		err = q.one(queuedOfQuery, []any{maxCounted, account}, &n, &more)
	}
	return n, more, err
}
