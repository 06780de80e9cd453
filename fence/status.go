// Package fence holds the rules F1–F18 that decide which run may act on a job.
// It is pure: no I/O, and clock and randomness are passed in.
package fence

import "slices"

// JobStatus is where a buyer's logical request stands.
type JobStatus string

// AttemptStatus is where one scheduled run on one device stands.
type AttemptStatus string

const (
	JobQueued     JobStatus = "queued"
	JobActive     JobStatus = "active"
	JobVerifying  JobStatus = "verifying"
	JobCancelling JobStatus = "cancelling"
	JobSucceeded  JobStatus = "succeeded"
	JobFailed     JobStatus = "failed"
	JobCancelled  JobStatus = "cancelled"

	AttemptLeased      AttemptStatus = "leased"
	AttemptDownloading AttemptStatus = "downloading"
	AttemptRunning     AttemptStatus = "running"
	AttemptUploading   AttemptStatus = "uploading"
	AttemptCommitting  AttemptStatus = "committing"
	AttemptSucceeded   AttemptStatus = "succeeded"
	AttemptFailed      AttemptStatus = "failed"
	AttemptLost        AttemptStatus = "lost"
	AttemptCancelled   AttemptStatus = "cancelled"
)

// JobStatuses and AttemptStatuses list every status, in the order of a life.
var (
	JobStatuses = []JobStatus{JobQueued, JobActive, JobVerifying, JobCancelling, JobSucceeded, JobFailed, JobCancelled}

	AttemptStatuses = []AttemptStatus{
		AttemptLeased, AttemptDownloading, AttemptRunning, AttemptUploading, AttemptCommitting,
		AttemptSucceeded, AttemptFailed, AttemptLost, AttemptCancelled,
	}
)

// cancelling → succeeded does not exist, and nothing leaves a terminal status.
var jobMoves = map[JobStatus][]JobStatus{
	JobQueued:     {JobActive, JobCancelled, JobFailed},
	JobActive:     {JobQueued, JobVerifying, JobCancelling, JobFailed},
	JobVerifying:  {JobSucceeded, JobCancelling, JobFailed},
	JobCancelling: {JobCancelled, JobFailed},
}

// A phase may be skipped, never taken back.
var attemptMoves = map[AttemptStatus][]AttemptStatus{
	AttemptLeased:      {AttemptDownloading, AttemptRunning, AttemptUploading, AttemptCommitting, AttemptFailed, AttemptLost, AttemptCancelled},
	AttemptDownloading: {AttemptRunning, AttemptUploading, AttemptCommitting, AttemptFailed, AttemptLost, AttemptCancelled},
	AttemptRunning:     {AttemptUploading, AttemptCommitting, AttemptFailed, AttemptLost, AttemptCancelled},
	AttemptUploading:   {AttemptCommitting, AttemptFailed, AttemptLost, AttemptCancelled},
	AttemptCommitting:  {AttemptSucceeded, AttemptFailed, AttemptLost, AttemptCancelled},
}

// MayBecome says whether a job may change from s to next. The same status
// again is no change.
func (s JobStatus) MayBecome(next JobStatus) bool { return slices.Contains(jobMoves[s], next) }

// Terminal says whether s is final (F9).
func (s JobStatus) Terminal() bool { return len(jobMoves[s]) == 0 }

// MayBecome says whether an attempt may change from s to next.
func (s AttemptStatus) MayBecome(next AttemptStatus) bool {
	return slices.Contains(attemptMoves[s], next)
}

// Live says whether an attempt in s still holds its job (F2).
func (s AttemptStatus) Live() bool { return len(attemptMoves[s]) > 0 }

// Leased says whether the lease clock and the session still rule an attempt in
// s: it is live and has not passed F6.
func (s AttemptStatus) Leased() bool { return s.Live() && s != AttemptCommitting }

// phase orders the phases an agent reports; 0 is no such phase.
func phase(s AttemptStatus) int {
	return 1 + slices.Index([]AttemptStatus{AttemptDownloading, AttemptRunning, AttemptUploading}, s)
}

// IsPhase says whether name is one an agent may report in progress.
func IsPhase(name string) bool { return phase(AttemptStatus(name)) > 0 }
