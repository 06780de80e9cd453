package fence

import (
	"fmt"
	"slices"
	"time"
)

// Submit queues a job, unless one whose output it needs has ended without one.
func (m *Model) Submit(j ModelJob) error {
	m.look()
	for _, id := range j.Inputs {
		in := m.Job(id)
		if in == nil || in.Status == JobFailed || in.Status == JobCancelled || in.Status == JobCancelling {
			return &Error{Code: CodeInvalid, Message: fmt.Sprintf("job %s has no output", id)}
		}
	}
	if !j.admits(m.Now) {
		return &Error{Code: CodeInvalid, Message: "the deadline is in the past"}
	}
	j.Status, j.WaitingOn, j.CreatedAt = JobQueued, m.waitsFor(j.Inputs), m.Now
	m.Jobs = append(m.Jobs, &j)
	m.say("job.queued", ModelRun{Attempt: Attempt{JobID: j.ID}}, "", 0)
	return nil
}

func (m *Model) waitsFor(inputs []string) string {
	i := slices.IndexFunc(inputs, func(id string) bool { return m.Job(id).Status != JobSucceeded })
	if i < 0 {
		return ""
	}
	return inputs[i]
}

// ModelPull is what a device finds that asks for work: a job, or when a backoff
// of its own ends. Idle says that no job waits for anyone.
type ModelPull struct {
	Job     string
	RetryAt time.Time
	Idle    bool
}

// Pull is the job of highest priority, then the oldest, that the device may
// take now (F3).
func (m *Model) Pull(device, session string) (p ModelPull) {
	m.look()
	var best *ModelJob
	d := m.Device(device)
	p.Idle = true
	for _, j := range m.Jobs {
		if j.Status != JobQueued || j.WaitingOn != "" {
			continue
		}
		if p.Idle = false; d == nil || !d.Speaks(Claim{DeviceID: device, SessionID: session}) || d.Draining || !j.admits(m.Now) {
			continue
		}
		free, again := m.mayTake(d, j)
		if p.RetryAt = Sooner(p.RetryAt, again); free && (best == nil || j.Priority > best.Priority) {
			best = j
		}
	}
	if best != nil {
		return ModelPull{Job: best.ID}
	}
	return p
}

// mayTake is false while the device waits out its own failure (F12), and where
// it has ended the job while another that has not is online (F3).
func (m *Model) mayTake(d *ModelDevice, j *ModelJob) (bool, time.Time) {
	var again time.Time
	tried := map[string]bool{}
	for _, r := range m.Runs {
		if r.JobID != j.ID {
			continue
		}
		if tried[r.DeviceID] = true; r.DeviceID == d.ID && r.RetryAfter.After(m.Now) && r.RetryAfter.After(again) {
			again = r.RetryAfter
		}
	}
	another := slices.ContainsFunc(m.Devices, func(o *ModelDevice) bool { return o.Online && !o.Draining && !o.Revoked && !tried[o.ID] })
	return again.IsZero() && !(tried[d.ID] && another), again
}

// Cancel is a buyer's (F10).
func (m *Model) Cancel(job string) error {
	m.look()
	j := m.Job(job)
	if j == nil {
		return &Error{Code: CodeNotFound, Message: "there is no such job"}
	}
	next, err := CheckCancel(j.Job)
	switch {
	case err != nil || next == j.Status:
		return err
	case next == JobCancelled:
		m.settle(j, ModelRun{Attempt: Attempt{JobID: job}}, JobCancelled, BuyerCancelled)
		return nil
	}
	j.Status = JobCancelling
	m.say("job.cancelling", *m.live(job), "", 0)
	return nil
}

// settle ends a job, once (F11), and with it the wait of those that need it.
func (m *Model) settle(j *ModelJob, by ModelRun, status JobStatus, code string) {
	if status == JobSucceeded {
		code = ""
	}
	j.Status, j.Code, j.EndedAt = status, code, m.Now
	j.settled++
	m.say("job."+string(status), by, code, 0)
	for _, next := range m.Jobs {
		switch {
		case next.Status != JobQueued || !slices.Contains(next.Inputs, j.ID):
		case status == JobSucceeded:
			next.WaitingOn = m.waitsFor(next.Inputs)
		default:
			m.settle(next, ModelRun{Attempt: Attempt{JobID: next.ID}}, JobFailed, InputFailed)
		}
	}
}
