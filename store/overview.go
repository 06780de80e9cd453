package store

import (
	"context"
	"database/sql"
	"path"
	"time"

	"rendermac/fence"
)

// Overview is what runs, what comes next and what has ended lately, all at one
// moment. Everybody's runs and places in the queue are in it, for when a job
// starts depends on them: who is kept to an account is shown those with its
// AccountID, and no others.
type Overview struct {
	At       time.Time
	Machines []Machine
	Runs     []LiveRun
	Queue    []Place // from its head, in the order in which they are taken
	Held     []Held  // queued as well, but nothing takes them yet
	Queued   int     // jobs of the account; if QueuedMore at least so many
	Failed   []EndedJob
	Ended    []EndedJob // the newest, but for the failed

	QueuedMore, FailedMore bool
}

// Limits of an overview: what of each is looked at, however much there is.
const (
	maxMachines  = 500
	maxRuns      = 2000
	overviewHead = 8 // of an account's places, and of what is held
	maxFailed    = 8
	maxEnded     = 12
	// maxAhead is how many places are walked to find those of one account.
	maxAhead = 500
	// maxCounted bounds counts, and the walk past what is another account's.
	maxCounted = 10_000
)

// JobLine is what people know a job by.
type JobLine struct {
	ID, AccountID   string
	Name            string // its output's
	File            string // its first input's; empty where it has none
	Files           int    // inputs
	Service, Preset string
}

// Machine is a device as far as the queue is concerned.
type Machine struct {
	ID, Name, State string
	Slots           int
	LastSeenAt      *time.Time
	Services        []string
	Offers          fence.Offers
}

// Overview looks at one account's jobs; at everybody's where it is empty.
func (db *DB) Overview(ctx context.Context, account string) (Overview, error) {
	o := Overview{At: db.o.Now().UTC().Truncate(time.Millisecond)}
	err := db.read(ctx, func(q querier) (err error) {
		if o.Machines, err = q.machines(); err != nil {
			return err
		}
		if o.Runs, err = q.liveRuns(account); err != nil {
			return err
		}
		if err := q.next(&o, account); err != nil {
			return err
		}
		return q.lately(&o, account)
	})
	return o, err
}

func (q querier) machines() ([]Machine, error) {
	var out []Machine
	err := q.each(`SELECT d.id, d.name, `+deviceState+`, coalesce(d.slots_override, d.agent_slots), d.last_seen_at, d.services, d.tags, d.facts
		FROM devices d WHERE d.revoked_at IS NULL ORDER BY d.id LIMIT ?`, []any{maxMachines}, func(rows *sql.Rows) error {
		var m Machine
		var seen sql.NullInt64
		var services, tags, facts string
		err := rows.Scan(&m.ID, &m.Name, &m.State, &m.Slots, &seen, &services, &tags, &facts)
		m.LastSeenAt, m.Offers = timeOrNil(seen), offersOf(services, tags, facts)
		m.Services = m.Offers.Services
		out = append(out, m)
		return err
	})
	return out, err
}

// LiveRun is an attempt that holds its job. Its JobLine has no name where the job
// is another account's.
type LiveRun struct {
	JobLine
	AttemptID, DeviceID string
	Status              fence.AttemptStatus
	Cancelling          bool
	Phase               string // empty before the first report
	Fraction            *float64
	FPS, Speed, ETA     *float64
	LeasedAt            time.Time
}

const liveRunsQuery = `SELECT a.id, a.job_id, a.device_id, a.status, j.status = 'cancelling', coalesce(a.phase, ''), a.fraction, a.fps, a.speed, a.eta_s, a.leased_at, j.account_id, j.service
	FROM job_attempts a INDEXED BY job_attempts_one_live CROSS JOIN jobs j ON j.id = a.job_id WHERE ` + live + ` LIMIT ?`

func (q querier) liveRuns(account string) ([]LiveRun, error) {
	var out []LiveRun
	var shown []*JobLine
	err := q.each(liveRunsQuery, []any{maxRuns}, func(rows *sql.Rows) error {
		var r LiveRun
		var leased int64
		err := rows.Scan(&r.AttemptID, &r.ID, &r.DeviceID, &r.Status, &r.Cancelling, &r.Phase, &r.Fraction, &r.FPS, &r.Speed, &r.ETA, &leased, &r.AccountID, &r.Service)
		r.LeasedAt = fromMS(leased)
		out = append(out, r)
		return err
	})
	for i := range out {
		if account == "" || out[i].AccountID == account {
			shown = append(shown, &out[i].JobLine)
		}
	}
	if err == nil {
		err = q.name(shown)
	}
	return out, err
}

// name says of each job what people know it by.
func (q querier) name(jobs []*JobLine) error {
	of, ids := map[string]*JobLine{}, []string{}
	for _, j := range jobs {
		of[j.ID], ids = j, append(ids, j.ID)
	}
	return q.each(`SELECT j.id, j.account_id, j.service, coalesce(json_extract(j.resolved, '$.preset'), ''),
			(SELECT count(*) FROM job_inputs i WHERE i.job_id = j.id),
			j.output_name, coalesce((SELECT coalesce(u.name, o.output_name, i.path) FROM job_inputs i
				LEFT JOIN uploads u ON u.id = i.upload_id LEFT JOIN jobs o ON o.id = i.input_job_id
				WHERE i.job_id = j.id ORDER BY i.position LIMIT 1), '')
		FROM json_each(?) k CROSS JOIN jobs j ON j.id = k.value`, []any{asJSON(ids)}, func(rows *sql.Rows) error {
		var j JobLine
		if err := rows.Scan(&j.ID, &j.AccountID, &j.Service, &j.Preset, &j.Files, &j.Name, &j.File); err != nil {
			return err
		}
		if j.File != "" {
			j.File = path.Base(j.File) // of a path, the file
		}
		*of[j.ID] = j
		return nil
	})
}
