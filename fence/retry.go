package fence

import (
	"slices"
	"time"
)

// Failure codes that the rules know. Any other is kept as text and never retried.
const (
	NoCapacity         = "no_capacity"
	LeaseExpired       = "lease_expired"
	DownloadFailed     = "download_failed"
	UploadFailed       = "upload_failed"
	ProviderOffline    = "provider_offline"
	InternalError      = "internal_error"
	RunnerFailed       = "runner_failed"
	VerificationFailed = "verification_failed"
	BuyerCancelled     = "buyer_cancelled"
	InputFailed        = "input_failed"
)

// Codes are all of those.
var Codes = []string{
	NoCapacity, LeaseExpired, DownloadFailed, UploadFailed, ProviderOffline, InternalError, RunnerFailed, VerificationFailed, BuyerCancelled, InputFailed,
}

// MaxBackoff is the longest that a device waits after its own failure (F12).
const MaxBackoff = 5 * time.Minute

// Retryable is the server's own policy (F12): an agent's wish has no part in it.
func Retryable(code string) bool {
	return slices.Contains([]string{NoCapacity, LeaseExpired, DownloadFailed, UploadFailed, ProviderOffline, InternalError}, code)
}

// AfterEnd is where a job goes when its live attempt ended with code (F12).
func AfterEnd(j Job, a Attempt, code string, now time.Time) JobStatus {
	switch {
	case j.Status == JobCancelling:
		return JobCancelled
	case j.Status == JobActive && Retryable(code) && a.Number < j.MaxAttempts && j.admits(now):
		return JobQueued
	default:
		return JobFailed
	}
}

// Backoff is how long the device that reported the n-th attempt's failure waits
// before it may take that job again: base × 2^(n−1), at most five minutes (F12).
func Backoff(base time.Duration, n int) time.Duration {
	wait := base
	for ; n > 1 && wait < MaxBackoff; n-- {
		wait *= 2
	}
	return min(wait, MaxBackoff)
}
