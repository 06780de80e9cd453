package fence

import "time"

// Device is the authenticated device of a session, as the store has it now.
type Device struct {
	ID        string
	SessionID string // the newest session, the only one that may act (F14)
	Revoked   bool   // F18
}

// Job is what the rules need to know of a job.
type Job struct {
	ID          string
	Status      JobStatus
	MaxAttempts int
	Deadline    time.Time // admission deadline; zero is none
}

// Attempt is what the rules need to know of an attempt.
type Attempt struct {
	ID, JobID, DeviceID string
	Number              int
	Status              AttemptStatus
	Epoch               int64
	TokenHash           string
	PrevEpoch           int64  // F14: what a lost lease_resumed replaced; 0 is none
	PrevHash            string // F14
	ExpiresAt           time.Time
	ClaimedBytes        int64
	ClaimedSHA256       string
}

// Claim is who speaks and for which run: device and session as authenticated,
// the rest as the message has it.
type Claim struct {
	DeviceID, SessionID string
	JobID, AttemptID    string
	Epoch               int64
	Token               string
}

// Result is the bytes and the SHA-256 that a commit claims.
type Result struct {
	Bytes  int64
	SHA256 string
}

func (j Job) admits(now time.Time) bool { return j.Deadline.IsZero() || now.Before(j.Deadline) }

// Expired says whether a's lease has run out. It has from its instant, whether
// or not anyone has swept; past F6 there is no lease clock.
func (a Attempt) Expired(now time.Time) bool {
	return a.Status.Leased() && !now.Before(a.ExpiresAt)
}

// Speaks says whether the claim comes from the device's newest session.
func (d Device) Speaks(c Claim) bool {
	return !d.Revoked && d.ID == c.DeviceID && d.SessionID != "" && d.SessionID == c.SessionID
}

// holds is the check that every message passes (F4).
func holds(d Device, j Job, a Attempt, c Claim, now time.Time) bool {
	return d.Speaks(c) &&
		a.DeviceID == c.DeviceID && a.ID == c.AttemptID && a.JobID == c.JobID && j.ID == c.JobID &&
		a.Epoch == c.Epoch && a.Status.Live() && !a.Expired(now)
}

// Step is what a message that held the lease may do.
type Step struct {
	Cancel bool          // the job is cancelling: change nothing, answer cancel
	Renew  bool          // give the lease a full TTL from now
	Status AttemptStatus // the attempt's status from now on
}

// CheckProgress moves the attempt forward and renews it; a phase behind its own
// is a heartbeat, and for a committing attempt nothing changes (F5).
func CheckProgress(d Device, j Job, a Attempt, c Claim, reported AttemptStatus, now time.Time) (Step, error) {
	switch {
	case !holds(d, j, a, c, now) || phase(reported) == 0:
		return Step{}, leaseConflict("F5")
	case j.Status == JobCancelling:
		return Step{Cancel: true, Status: a.Status}, nil
	case a.Status == AttemptCommitting:
		return Step{Status: a.Status}, nil
	case a.Status.MayBecome(reported):
		return Step{Renew: true, Status: reported}, nil
	default:
		return Step{Renew: true, Status: a.Status}, nil
	}
}

// CheckInputs lets a run have its input URLs signed anew; it renews nothing.
func CheckInputs(d Device, j Job, a Attempt, c Claim, now time.Time) (Step, error) {
	switch {
	case !holds(d, j, a, c, now) || !a.Status.Leased():
		return Step{}, leaseConflict("F4")
	case j.Status == JobCancelling:
		return Step{Cancel: true, Status: a.Status}, nil
	default:
		return Step{Status: a.Status}, nil
	}
}

// CheckUpload opens or replaces the upload grant: it moves the attempt to
// uploading and renews as progress does. A grant that F6 closed stays closed (F16).
func CheckUpload(d Device, j Job, a Attempt, c Claim, now time.Time) (Step, error) {
	if !a.Status.Leased() {
		return Step{}, leaseConflict("F16")
	}
	return CheckProgress(d, j, a, c, AttemptUploading, now)
}

// CheckLog lets a run's lines be kept; a stray log is dropped.
func CheckLog(d Device, j Job, a Attempt, c Claim, now time.Time) error {
	if !holds(d, j, a, c, now) {
		return leaseConflict("F4")
	}
	return nil
}

// CommitStep is what the first commit transaction does (F6).
type CommitStep int

const (
	CommitAccept    CommitStep = iota + 1 // job verifying, attempt committing
	CommitAgain                           // the same commit again: only the answer
	CommitCancelled                       // the job was cancelling: finalize it here (F11)
)

// CheckCommit decides the first commit transaction (F6).
func CheckCommit(d Device, j Job, a Attempt, c Claim, r Result, now time.Time) (CommitStep, error) {
	own := holds(d, j, a, c, now) && matches(c.Token, a.TokenHash) &&
		(a.Status == AttemptUploading || a.Status == AttemptCommitting)
	switch {
	case !own:
		return 0, commitConflict("F6")
	case j.Status == JobCancelling:
		return CommitCancelled, nil
	case j.Status == JobActive && a.Status == AttemptUploading:
		return CommitAccept, nil
	case j.Status == JobVerifying && a.Status == AttemptCommitting && r == Result{a.ClaimedBytes, a.ClaimedSHA256}:
		return CommitAgain, nil
	default:
		return 0, commitConflict("F6")
	}
}

// CheckFail lets a run give up its job. What passed F6 belongs to the verifier,
// unless the job is cancelling: then any end will do (F10).
func CheckFail(d Device, j Job, a Attempt, c Claim, now time.Time) error {
	if !holds(d, j, a, c, now) || !matches(c.Token, a.TokenHash) {
		return commitConflict("F4")
	}
	if a.Status == AttemptCommitting && j.Status != JobCancelling {
		return commitConflict("F6")
	}
	return nil
}

// Verdict is what verification found out (F7).
type Verdict struct {
	Verified bool
	Code     string // verification_failed, or internal_error past the deadline
}

// CheckVerdict is where the second commit transaction takes attempt and job.
// ok is false where the attempt has already ended: do and send nothing (F8).
func CheckVerdict(j Job, a Attempt, v Verdict) (attempt AttemptStatus, job JobStatus, ok bool) {
	switch {
	case a.Status != AttemptCommitting:
		return a.Status, j.Status, false
	case j.Status == JobCancelling:
		return AttemptCancelled, JobCancelled, true
	case j.Status != JobVerifying:
		return a.Status, j.Status, false
	case v.Verified:
		return AttemptSucceeded, JobSucceeded, true
	default:
		return AttemptFailed, JobFailed, true
	}
}

// CheckCancel is where a buyer's cancel takes the job (F10). A cancelling job
// stays what it is: repeating is harmless.
func CheckCancel(j Job) (JobStatus, error) {
	switch {
	case j.Status.Terminal():
		return j.Status, &Error{Code: CodeJobTerminal, Rule: "F10", Message: "the job is already " + string(j.Status) + ": there is nothing to cancel"}
	case j.Status == JobQueued:
		return JobCancelled, nil
	default:
		return JobCancelling, nil
	}
}

// CheckResume says whether a returning device may go on with an attempt (F14).
// known is whether its secret, current or replaced, was right: only then may
// the answer say how the attempt stands.
func CheckResume(j Job, a Attempt, c Claim, now time.Time) (passes, known bool) {
	own := a.DeviceID == c.DeviceID && a.ID == c.AttemptID && a.JobID == c.JobID && j.ID == c.JobID
	current := c.Epoch == a.Epoch && matches(c.Token, a.TokenHash)
	replaced := a.PrevEpoch > 0 && c.Epoch == a.PrevEpoch && matches(c.Token, a.PrevHash)
	known = own && (current || replaced)
	return known && a.Status.Leased() && !a.Expired(now) && j.Status == JobActive, known
}

// Resumed is a after a resume that passed: a newer epoch and another secret.
// What the agent presented is kept for one more resume, since this answer may
// be lost as well (F14).
func Resumed(a Attempt, c Claim, newHash string, expires time.Time) Attempt {
	a.PrevEpoch, a.PrevHash = c.Epoch, HashToken(c.Token)
	a.Epoch, a.TokenHash, a.ExpiresAt = a.Epoch+1, newHash, expires
	return a
}
