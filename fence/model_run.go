package fence

import "slices"

// Lease starts the next attempt of a job that Pull has named (F1, F3).
func (m *Model) Lease(job, device, attempt, tokenHash string) {
	j := m.Job(job)
	j.Status = JobActive
	if j.Attempts++; j.Attempts == 1 {
		j.StartedAt = m.Now
	}
	r := &ModelRun{LeasedAt: m.Now, Attempt: Attempt{
		ID: attempt, JobID: job, DeviceID: device, Number: j.Attempts, Status: AttemptLeased, Epoch: 1,
		TokenHash: tokenHash, ExpiresAt: m.Now.Add(m.LeaseTTL),
	}}
	m.Runs = append(m.Runs, r)
	m.say("attempt.leased", *r, "", int64(r.Number))
}

// Progress moves a run forward (F5).
func (m *Model) Progress(c Claim, reported AttemptStatus) (Step, error) {
	d, j, a := m.claimed(c)
	step, err := CheckProgress(d, j, a, c, reported, m.Now)
	return step, m.step(c, step, reported, err)
}

// Upload opens the grant (F16).
func (m *Model) Upload(c Claim) (Step, error) {
	d, j, a := m.claimed(c)
	step, err := CheckUpload(d, j, a, c, m.Now)
	return step, m.step(c, step, AttemptUploading, err)
}

// Inputs has the URLs signed anew; it renews nothing.
func (m *Model) Inputs(c Claim) (Step, error) {
	d, j, a := m.claimed(c)
	step, err := CheckInputs(d, j, a, c, m.Now)
	return step, m.step(c, step, "", err)
}

// Log keeps a run's lines.
func (m *Model) Log(c Claim) error {
	d, j, a := m.claimed(c)
	return m.step(c, Step{Status: a.Status}, "", CheckLog(d, j, a, c, m.Now))
}

// step is what every message that held the lease does: the first one under a new
// epoch forgets what a resume replaced (F14).
func (m *Model) step(c Claim, step Step, reported AttemptStatus, err error) error {
	if err != nil {
		return err
	}
	r := m.Run(c.AttemptID)
	r.PrevEpoch, r.PrevHash = 0, ""
	if !step.Renew {
		return nil
	}
	r.ExpiresAt = m.Now.Add(m.LeaseTTL)
	if reported == step.Status {
		r.Phase = reported
	}
	if r.Status != step.Status {
		r.Status = step.Status
		m.say("attempt."+string(step.Status), *r, "", 0)
	}
	return nil
}

// Commit is the first commit transaction (F6).
func (m *Model) Commit(c Claim, result Result) (CommitStep, error) {
	d, j, a := m.claimed(c)
	step, err := CheckCommit(d, j, a, c, result, m.Now)
	if err != nil {
		return step, err
	}
	r := m.Run(c.AttemptID)
	switch step {
	case CommitCancelled:
		m.end(r, AttemptCancelled, JobCancelled, BuyerCancelled)
	case CommitAccept:
		r.Status, r.ClaimedBytes, r.ClaimedSHA256, r.VerifyAt = AttemptCommitting, result.Bytes, result.SHA256, m.Now
		r.PrevEpoch, r.PrevHash = 0, ""
		m.Job(c.JobID).Status = JobVerifying
		m.say("job.verifying", *r, "", 0)
	}
	return step, nil
}

// Verdict is the second commit transaction (F8); false where it does nothing.
func (m *Model) Verdict(attempt string, v Verdict) bool {
	m.look()
	r := m.Run(attempt)
	a, j, ok := CheckVerdict(m.Job(r.JobID).Job, r.Attempt, v)
	if ok {
		m.end(r, a, j, v.Code)
	}
	return ok
}

// Fail gives a run up (F12).
func (m *Model) Fail(c Claim, code string) error {
	d, j, a := m.claimed(c)
	if err := CheckFail(d, j, a, c, m.Now); err != nil {
		return err
	}
	next, r := AfterEnd(j, a, code, m.Now), m.Run(c.AttemptID)
	if next == JobQueued {
		r.RetryAfter = m.Now.Add(Backoff(m.Backoff, r.Number))
	}
	m.end(r, AttemptFailed, next, code)
	return nil
}

// leave ends what a device runs, has not committed, and does not keep.
func (m *Model) leave(device string, keep []string) {
	for _, r := range m.Runs {
		switch {
		case r.DeviceID != device || !r.Status.Leased() || slices.Contains(keep, r.ID):
		case r.Expired(m.Now):
			m.lose(r, LeaseExpired)
		default:
			m.lose(r, ProviderOffline)
		}
	}
}

func (m *Model) lose(r *ModelRun, code string) {
	m.end(r, AttemptLost, AfterEnd(m.Job(r.JobID).Job, r.Attempt, code, m.Now), code)
}

// end finalizes a run and moves its job (F11). A cancelled job's run is
// cancelled as well, whatever ended it (F10).
func (m *Model) end(r *ModelRun, attempt AttemptStatus, job JobStatus, code string) {
	if job == JobCancelled {
		attempt, code = AttemptCancelled, BuyerCancelled
	}
	r.Status, r.Code, r.EndedAt = attempt, code, m.Now
	r.PrevEpoch, r.PrevHash = 0, ""
	if job != JobQueued {
		m.settle(m.Job(r.JobID), *r, job, code)
		return
	}
	m.Job(r.JobID).Status = JobQueued
	m.say("job.requeued", *r, code, 0)
}

// claimed is what a message speaks of; a run that does not exist is an empty one.
func (m *Model) claimed(c Claim) (Device, Job, Attempt) {
	m.look()
	r, d := m.Run(c.AttemptID), m.Device(c.DeviceID)
	if r == nil || d == nil {
		return Device{}, Job{}, Attempt{}
	}
	return d.Device, m.Job(r.JobID).Job, r.Attempt
}
