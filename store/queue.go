package store

import (
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"rendermac/fence"
)

// classes lists what the queue asks for: jobs with the same needs are one
// class, found by hopping over the index, so that it costs the same however
// long the queue is.
func (q querier) classes() ([]string, error) {
	var out []string
	for last := ""; ; {
		var next sql.NullString
		err := q.one(`SELECT min(needs) FROM jobs INDEXED BY jobs_queue WHERE status = 'queued' AND waiting_on IS NULL AND reading = 0 AND needs > ?`, []any{last}, &next)
		if err != nil || !next.Valid {
			return out, err
		}
		last = next.String
		out = append(out, last)
	}
}

// puller is the device that asks for work.
type puller struct {
	fence.Device
	draining bool
	offers   fence.Offers
}

func (t *tx) puller(s Session) (puller, error) {
	p := puller{Device: fence.Device{ID: s.DeviceID}}
	var session sql.NullString
	var revoked sql.NullInt64
	var services, tags, facts string
	err := t.one(`SELECT session_id, revoked_at, draining, services, tags, facts FROM devices WHERE id = ?`,
		[]any{s.DeviceID}, &session, &revoked, &p.draining, &services, &tags, &facts)
	if errors.Is(err, sql.ErrNoRows) {
		return p, nil
	}
	p.SessionID, p.Revoked = session.String, revoked.Valid
	p.offers = offersOf(services, tags, facts)
	return p, err
}

func offersOf(services, tags, facts string) fence.Offers {
	var o fence.Offers
	var f struct {
		Features    []string `json:"features"`
		MemoryBytes int64    `json:"memory_bytes"`
	}
	_ = json.Unmarshal([]byte(services), &o.Services) // our own rows: asJSON wrote them
	_ = json.Unmarshal([]byte(tags), &o.Tags)
	_ = json.Unmarshal([]byte(facts), &f)
	o.Features, o.MemoryBytes = f.Features, f.MemoryBytes
	return o
}

// candidate is a queued job, with all that its offer will say.
type candidate struct {
	id, accountID             string
	priority, attempts        int
	service, ext, contentType string
	params                    []byte
	createdAt                 int64
	webhook
}

const candidateColumns = `id, account_id, priority, attempts, service, output_ext, content_type, resolved, created_at, ` + webhookColumns

func scanCandidate(rows *sql.Rows) (c candidate, err error) {
	err = rows.Scan(append([]any{&c.id, &c.accountID, &c.priority, &c.attempts, &c.service, &c.ext, &c.contentType, &c.params, &c.createdAt}, c.columns()...)...)
	return c, err
}

// best is the job of highest priority, then the oldest, over all classes that
// the device fits.
func (t *tx) best(d puller, classes []string) (*candidate, time.Time, error) {
	var best *candidate
	var retryAt time.Time
	for _, class := range classes {
		var needs fence.Needs
		if err := json.Unmarshal([]byte(class), &needs); err != nil {
			return nil, retryAt, err
		}
		if !fence.Fits(needs, d.offers) {
			continue
		}
		c, again, err := t.firstOf(d, class, needs)
		if err != nil {
			return nil, retryAt, err
		}
		if c != nil && (best == nil || c.priority > best.priority || c.priority == best.priority && c.id < best.id) {
			best = c
		}
		retryAt = fence.Sooner(retryAt, again)
	}
	return best, retryAt, nil
}

// firstOf walks one class in order and skips what this device must leave alone
// for now.
func (t *tx) firstOf(d puller, class string, needs fence.Needs) (*candidate, time.Time, error) {
	var ahead []candidate
	var retryAt time.Time
	after := candidate{priority: 101}
	for page := 1; ; page = 32 { // the first one will nearly always do
		ahead = ahead[:0]
		err := t.each(`SELECT `+candidateColumns+` FROM jobs INDEXED BY jobs_queue
			WHERE status = 'queued' AND waiting_on IS NULL AND reading = 0 AND needs = ?1 AND (priority < ?2 OR priority = ?2 AND id > ?3)
			AND (admission_deadline IS NULL OR admission_deadline > ?4)
			ORDER BY priority DESC, id LIMIT ?5`,
			[]any{class, after.priority, after.id, ms(t.now), page}, func(rows *sql.Rows) error {
				c, err := scanCandidate(rows)
				ahead = append(ahead, c)
				return err
			})
		if err != nil {
			return nil, retryAt, err
		}
		for _, c := range ahead {
			free, again, err := t.mayTake(d, c, needs)
			if free || err != nil {
				return &c, retryAt, err
			}
			retryAt = fence.Sooner(retryAt, again)
		}
		if len(ahead) < page {
			return nil, retryAt, nil
		}
		after = ahead[len(ahead)-1]
	}
}

// mayTake says whether the device may take a job now: it is not waiting out its
// own failure (F12), and it has not ended this job already while another
// capable device that has not is online (F3).
func (t *tx) mayTake(d puller, c candidate, needs fence.Needs) (bool, time.Time, error) {
	if c.attempts == 0 {
		return true, time.Time{}, nil
	}
	var ended int
	var retryAfter sql.NullInt64
	err := t.one(`SELECT count(*), max(retry_after) FROM job_attempts WHERE job_id = ? AND device_id = ?`,
		[]any{c.id, d.ID}, &ended, &retryAfter)
	if err != nil || ended == 0 {
		return ended == 0, time.Time{}, err
	}
	if again := timeOrZero(retryAfter); again.After(t.now) {
		return false, again, nil
	}
	another, err := t.anotherCanTake(c.id, d.ID, needs)
	return !another, time.Time{}, err
}

func (t *tx) anotherCanTake(job, self string, needs fence.Needs) (bool, error) {
	found := false
	err := t.each(`SELECT services, tags, facts FROM devices
		WHERE online = 1 AND draining = 0 AND revoked_at IS NULL AND coalesce(slots_override, 1) > 0 AND id <> ?1
		AND NOT EXISTS (SELECT 1 FROM job_attempts WHERE job_id = ?2 AND device_id = devices.id)`,
		[]any{self, job}, func(rows *sql.Rows) error {
			var services, tags, facts string
			err := rows.Scan(&services, &tags, &facts)
			found = found || err == nil && fence.Fits(needs, offersOf(services, tags, facts))
			return err
		})
	return found, err
}
