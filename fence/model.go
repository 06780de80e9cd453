package fence

import (
	"fmt"
	"slices"
	"time"
)

// Model is the rules with no storage: what the real store is held against, step
// by step. It is given its clock, its ids and its secrets.
type Model struct {
	Now    time.Time
	TTL    time.Duration
	Resume bool // F14

	Jobs     map[string]*Job
	Attempts []*Attempt // in the order of their leases
	Devices  map[string]*Device
	Grants   map[string]bool // by attempt: still open (F16)

	settled map[string]JobStatus // what has ended, to see that it stays so (F9)
	losing  map[string]bool      // jobs that were cancelling once
}

// NewModel is an empty world.
func NewModel(now time.Time, ttl time.Duration, resume bool) *Model {
	return &Model{
		Now: now, TTL: ttl, Resume: resume, Jobs: map[string]*Job{}, Devices: map[string]*Device{},
		Grants: map[string]bool{}, settled: map[string]JobStatus{}, losing: map[string]bool{},
	}
}

// Submit queues a job.
func (m *Model) Submit(id string, maxAttempts int, deadline time.Time) {
	m.Jobs[id] = &Job{ID: id, Status: JobQueued, MaxAttempts: maxAttempts, Deadline: deadline}
}

// Lease starts the next attempt of a queued job on a device (F1, F3).
func (m *Model) Lease(job, device, attempt, tokenHash string) error {
	j := m.Jobs[job]
	if j == nil || j.Status != JobQueued || !j.admits(m.Now) || m.live(job) != nil {
		return fmt.Errorf("job %s cannot be leased", job)
	}
	n := 1
	for _, a := range m.Attempts {
		if a.JobID == job {
			n++
		}
	}
	m.Attempts = append(m.Attempts, &Attempt{
		ID: attempt, JobID: job, DeviceID: device, Number: n, Status: AttemptLeased, Epoch: 1,
		TokenHash: tokenHash, ExpiresAt: m.Now.Add(m.TTL),
	})
	m.Grants[attempt] = true
	j.Status = JobActive
	return nil
}

// Progress moves a run forward (F5).
func (m *Model) Progress(c Claim, reported AttemptStatus) (Step, error) {
	d, j, a := m.claimed(c)
	step, err := CheckProgress(d, j, a, c, reported, m.Now)
	return m.step(c, step, err)
}

// Upload opens the grant (F16).
func (m *Model) Upload(c Claim) (Step, error) {
	d, j, a := m.claimed(c)
	step, err := CheckUpload(d, j, a, c, m.Now)
	return m.step(c, step, err)
}

func (m *Model) step(c Claim, step Step, err error) (Step, error) {
	if err != nil {
		return step, err
	}
	a := m.attempt(c.AttemptID)
	a.PrevEpoch, a.PrevHash = 0, ""
	if a.Status = step.Status; step.Renew {
		a.ExpiresAt = m.Now.Add(m.TTL)
	}
	return step, nil
}

// Commit is the first commit transaction (F6).
func (m *Model) Commit(c Claim, r Result) (CommitStep, error) {
	d, j, a := m.claimed(c)
	step, err := CheckCommit(d, j, a, c, r, m.Now)
	if err != nil {
		return step, err
	}
	run := m.attempt(c.AttemptID)
	switch step {
	case CommitCancelled:
		m.end(run, AttemptCancelled, JobCancelled)
	case CommitAccept:
		run.Status, run.ClaimedBytes, run.ClaimedSHA256 = AttemptCommitting, r.Bytes, r.SHA256
		run.PrevEpoch, run.PrevHash = 0, ""
		m.Jobs[c.JobID].Status = JobVerifying
		m.Grants[c.AttemptID] = false
	}
	return step, nil
}

// Verdict is the second commit transaction (F8); false where it does nothing.
func (m *Model) Verdict(attempt string, v Verdict) bool {
	run := m.attempt(attempt)
	a, j, ok := CheckVerdict(*m.Jobs[run.JobID], *run, v)
	if ok {
		m.end(run, a, j)
	}
	return ok
}

// Fail gives a run up (F12).
func (m *Model) Fail(c Claim, code string) error {
	d, j, a := m.claimed(c)
	if err := CheckFail(d, j, a, c, m.Now); err != nil {
		return err
	}
	next, ended := AfterEnd(j, a, code, m.Now), AttemptFailed
	if next == JobCancelled {
		ended = AttemptCancelled
	}
	m.end(m.attempt(c.AttemptID), ended, next)
	return nil
}

// Cancel is a buyer's (F10).
func (m *Model) Cancel(job string) error {
	j := m.Jobs[job]
	next, err := CheckCancel(*j)
	if err != nil {
		return err
	}
	j.Status = next
	return nil
}

// Expire sweeps leases and admission deadlines (F13).
func (m *Model) Expire() {
	for _, a := range m.Attempts {
		if a.Expired(m.Now) {
			m.lose(a, LeaseExpired)
		}
	}
	for _, j := range m.Jobs {
		if j.Status == JobQueued && !j.admits(m.Now) {
			j.Status = JobFailed
		}
	}
}

// Hello is a device's new session; what it lists and may keep gets a newer
// epoch and the next of the fresh secrets (F14). It answers which were resumed.
func (m *Model) Hello(device, session string, list []Claim, fresh []string) (resumed []string) {
	m.Devices[device] = &Device{ID: device, SessionID: session}
	for _, c := range list {
		a := m.attempt(c.AttemptID)
		if !m.Resume || a == nil || m.Jobs[c.JobID] == nil || slices.Contains(resumed, c.AttemptID) {
			continue
		}
		c.DeviceID = device
		if passes, _ := CheckResume(*m.Jobs[c.JobID], *a, c, m.Now); passes {
			*a = Resumed(*a, c, fresh[len(resumed)], m.Now.Add(m.TTL))
			resumed = append(resumed, a.ID)
		}
	}
	m.leave(device, resumed)
	return resumed
}

// Revoke ends a device (F18).
func (m *Model) Revoke(device string) {
	m.Devices[device].Revoked, m.Devices[device].SessionID = true, ""
	m.leave(device, nil)
}

// Restart is the server's own absence (F15): what had not run out gets a full
// lease, unless its job is cancelling.
func (m *Model) Restart(absent time.Duration) {
	before := m.Now
	m.Now = m.Now.Add(absent)
	for _, a := range m.Attempts {
		if a.Status.Leased() && before.Before(a.ExpiresAt) && m.Jobs[a.JobID].Status == JobActive {
			a.ExpiresAt = m.Now.Add(m.TTL)
		}
	}
}

func (m *Model) leave(device string, keep []string) {
	for _, a := range m.Attempts {
		if a.DeviceID == device && a.Status.Leased() && !slices.Contains(keep, a.ID) {
			code := ProviderOffline
			if a.Expired(m.Now) {
				code = LeaseExpired
			}
			m.lose(a, code)
		}
	}
}

func (m *Model) lose(a *Attempt, code string) {
	next, ended := AfterEnd(*m.Jobs[a.JobID], *a, code, m.Now), AttemptLost
	if next == JobCancelled {
		ended = AttemptCancelled
	}
	m.end(a, ended, next)
}

func (m *Model) end(a *Attempt, attempt AttemptStatus, job JobStatus) {
	a.Status, a.PrevEpoch, a.PrevHash = attempt, 0, ""
	m.Jobs[a.JobID].Status = job
	m.Grants[a.ID] = false
}

func (m *Model) claimed(c Claim) (Device, Job, Attempt) {
	a := m.attempt(c.AttemptID)
	d := m.Devices[c.DeviceID]
	if a == nil || d == nil {
		return Device{}, Job{}, Attempt{}
	}
	return *d, *m.Jobs[a.JobID], *a
}

func (m *Model) attempt(id string) *Attempt {
	for _, a := range m.Attempts {
		if a.ID == id {
			return a
		}
	}
	return nil
}

func (m *Model) live(job string) *Attempt {
	for _, a := range m.Attempts {
		if a.JobID == job && a.Status.Live() {
			return a
		}
	}
	return nil
}

// Check says which invariant the world has broken, if any. It is to be called
// after every step.
func (m *Model) Check() error {
	numbers, live := map[string]int{}, map[string]int{}
	for _, a := range m.Attempts {
		if numbers[a.JobID]++; a.Number != numbers[a.JobID] {
			return fmt.Errorf("F1: attempt %s of %s has number %d, not %d", a.ID, a.JobID, a.Number, numbers[a.JobID])
		}
		if a.Status.Live() {
			live[a.JobID]++
		}
		if m.Grants[a.ID] && !a.Status.Leased() {
			return fmt.Errorf("F16: attempt %s is %s and its grant is open", a.ID, a.Status)
		}
	}
	for id, j := range m.Jobs {
		if err := m.checkJob(id, j, live[id]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) checkJob(id string, j *Job, live int) error {
	was, ended := m.settled[id]
	m.losing[id] = m.losing[id] || j.Status == JobCancelling
	switch {
	case live > 1:
		return fmt.Errorf("F2: job %s has %d live attempts", id, live)
	case (j.Status == JobActive || j.Status == JobVerifying || j.Status == JobCancelling) != (live == 1):
		return fmt.Errorf("F9: job %s is %s with %d live attempts", id, j.Status, live)
	case ended && was != j.Status:
		return fmt.Errorf("F9: job %s was %s and is %s", id, was, j.Status)
	case m.losing[id] && j.Status == JobSucceeded:
		return fmt.Errorf("F10: job %s was cancelling and succeeded", id)
	}
	if j.Status.Terminal() {
		m.settled[id] = j.Status
	}
	return nil
}
