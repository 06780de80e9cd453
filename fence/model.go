package fence

import (
	"fmt"
	"slices"
	"time"
)

// Model is the rules with no storage: what the real store is held against, step
// by step. It is given its clock, its ids and its secrets.
type Model struct {
	Terms
	Now     time.Time
	Jobs    []*ModelJob    // the oldest first
	Runs    []*ModelRun    // in the order of their leases
	Devices []*ModelDevice // in the order of their pairing
	History []ModelEvent

	latest time.Time     // the highest time used (F15)
	jumped time.Duration // how far the clock was set since it was last looked at (F15)
}

// Terms are the durations and the choice that the rules leave open.
type Terms struct {
	LeaseTTL, DeviceTTL, Backoff time.Duration
	Resume                       bool // F14
}

// ModelJob is a job as its row has it.
type ModelJob struct {
	Job
	Priority           int
	Inputs             []string // the jobs whose outputs it needs
	WaitingOn          string   // the first of them that had not succeeded yet
	Code               string
	Attempts           int
	CreatedAt          time.Time
	StartedAt, EndedAt time.Time // zero is not yet

	settled int       // how often it has ended: once at the most (F9, F11)
	was     JobStatus // how it has ended
	losing  bool      // it was cancelling once
}

// ModelRun is an attempt as its row has it.
type ModelRun struct {
	Attempt
	Phase               AttemptStatus // as last reported
	Code                string
	LeasedAt            time.Time
	RetryAfter, EndedAt time.Time // zero is none
	VerifyAt            time.Time
}

// ModelDevice is a device as its row has it.
type ModelDevice struct {
	Device
	Online   bool
	Draining bool
	SeenAt   time.Time // zero is never
}

// ModelEvent is one line of the history.
type ModelEvent struct {
	Type, Job, Attempt, Device, Code string
	Number                           int64 // of a leased attempt; the epoch of a resumed one
}

// NewModel is an empty world.
func NewModel(now time.Time, terms Terms) *Model {
	return &Model{Terms: terms, Now: now, latest: now}
}

// Open says whether an attempt's upload grant is (F16).
func (m *Model) Open(attempt string) bool {
	r := m.Run(attempt)
	return r != nil && r.Status.Leased()
}

// Job finds a job; nil is none.
func (m *Model) Job(id string) *ModelJob {
	i := slices.IndexFunc(m.Jobs, func(j *ModelJob) bool { return j.ID == id })
	if i < 0 {
		return nil
	}
	return m.Jobs[i]
}

// Run finds an attempt; nil is none.
func (m *Model) Run(id string) *ModelRun {
	i := slices.IndexFunc(m.Runs, func(r *ModelRun) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return m.Runs[i]
}

// Device finds a device; nil is none.
func (m *Model) Device(id string) *ModelDevice {
	i := slices.IndexFunc(m.Devices, func(d *ModelDevice) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return m.Devices[i]
}

func (m *Model) live(job string) *ModelRun {
	i := slices.IndexFunc(m.Runs, func(r *ModelRun) bool { return r.JobID == job && r.Status.Live() })
	if i < 0 {
		return nil
	}
	return m.Runs[i]
}

func (m *Model) say(kind string, r ModelRun, code string, number int64) {
	m.History = append(m.History, ModelEvent{kind, r.JobID, r.ID, r.DeviceID, code, number})
}

// Check says which invariant the world has broken, if any. It is to be called
// after every step.
func (m *Model) Check() error {
	numbers, live := map[string]int{}, map[string]int{}
	for _, r := range m.Runs {
		if numbers[r.JobID]++; r.Number != numbers[r.JobID] {
			return fmt.Errorf("F1: attempt %s of %s has number %d, not %d", r.ID, r.JobID, r.Number, numbers[r.JobID])
		}
		if r.Status.Live() {
			live[r.JobID]++
		}
		if !r.Status.Live() && r.PrevHash != "" {
			return fmt.Errorf("F9: attempt %s is %s and an old secret is kept", r.ID, r.Status)
		}
	}
	for _, j := range m.Jobs {
		if err := j.check(live[j.ID]); err != nil {
			return err
		}
	}
	return nil
}

func (j *ModelJob) check(live int) error {
	running := j.Status == JobActive || j.Status == JobVerifying || j.Status == JobCancelling
	switch {
	case live > 1:
		return fmt.Errorf("F2: job %s has %d live attempts", j.ID, live)
	case running != (live == 1):
		return fmt.Errorf("F9: job %s is %s with %d live attempts", j.ID, j.Status, live)
	case j.was != "" && j.was != j.Status:
		return fmt.Errorf("F9: job %s was %s and is %s", j.ID, j.was, j.Status)
	case j.losing && j.Status == JobSucceeded:
		return fmt.Errorf("F10: job %s was cancelling and succeeded", j.ID)
	case j.Status.Terminal() != (j.settled == 1):
		return fmt.Errorf("F11: job %s is %s and was settled %d times", j.ID, j.Status, j.settled)
	}
	j.losing = j.losing || j.Status == JobCancelling
	if j.Status.Terminal() {
		j.was = j.Status
	}
	return nil
}
