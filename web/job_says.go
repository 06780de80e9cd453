package web

import (
	"fmt"
	"strings"
)

// Sentence says how the job stands, where the state alone does not.
func (j Job) Sentence() string {
	switch {
	case j.Status == "failed":
		return fullSentence(j.Failure)
	case j.Status == "cancelling":
		return "The Mac is told to stop; nothing of this run is kept."
	case j.Status == "verifying":
		return "The result has arrived. The server checks that it is what was asked for."
	case j.Status != "queued" || j.WaitingOn != nil:
		return ""
	case j.Reading > 0:
		return "The server reads " + plural(j.Reading, "file", "files") + " first, so that no Mac works on another."
	case len(j.Attempts) > 0:
		return fmt.Sprintf("Attempt %d of %d has ended; the job waits to be tried again. %s", len(j.Attempts), j.MaxAttempts, j.waits())
	}
	return j.waits()
}

// waits says for what, as far as anyone can tell.
func (j Job) waits() string {
	switch {
	case j.Next == nil || j.Next.Start == nil && !j.Next.Stuck():
		return "Waiting for a Mac with a free slot."
	case j.Next.Stuck():
		return "It " + j.Next.When() + "."
	}
	return "It starts " + j.Next.When() + "."
}

// NoLog says why an attempt's log is empty.
func (j Job) NoLog(a Attempt) string {
	switch {
	case a.Ended == nil:
		return "No log yet."
	case j.LogsKept > 0 && j.Now.Sub(*a.Ended) > j.LogsKept:
		return "Retention has removed the log."
	}
	return "Nothing was logged."
}

// MayAcceptDamage tells whether what can be read of a damaged input may be made
// something of, which a retry does not.
func (j Job) MayAcceptDamage() bool {
	return j.Status == "failed" && strings.Contains(j.Failure, "damaged_input=accept")
}

// Advice says what to do about a failure.
func (j Job) Advice() string { return advice[j.FailureCode] }

var advice = map[string]string{
	"no_capacity":         "Start or pair a Mac that can run it and retry: a retry has no deadline.",
	"lease_expired":       "See whether that Mac is awake and on the network, then retry.",
	"provider_offline":    "See whether that Mac is awake and on the network, then retry.",
	"download_failed":     "See how the Mac reaches the file, then retry.",
	"upload_failed":       "See how the Mac reaches the store, then retry.",
	"internal_error":      "The log below may say more. Mend that and retry.",
	"runner_failed":       "The log below says what stood before it.",
	"verification_failed": "The result was not what was asked for, so nothing of it was published. The log below may say why.",
	"input_failed":        "Submit it again with a file that is there and whole.",
}

// CancelSays is what a cancel would do now.
func (j Job) CancelSays() string {
	live := j.Live()
	switch {
	case j.HasEnded():
		return "It has ended already: there is nothing to cancel."
	case j.Status == "cancelling":
		return "It is being cancelled already."
	case j.Status == "verifying":
		return "Its result has arrived and is being checked. It is thrown away."
	case live != nil:
		return live.Device + " is told to stop. Nothing of what it has done is kept."
	}
	return "No Mac works on it: it ends at once."
}

// CancelFails says what becomes of the jobs that wait for its output.
func (j Job) CancelFails() string {
	switch {
	case !j.MayCancel() || j.Dependents == 0:
		return ""
	case j.MoreDependents:
		return "More than " + Count(j.Dependents) + " jobs wait for its output: they fail with it."
	case j.Dependents == 1:
		return "1 job waits for its output: it fails with it."
	}
	return Count(j.Dependents) + " jobs wait for its output: they fail with it."
}

// CancelFrees says what becomes of the credits that it holds.
func (j Job) CancelFrees() string {
	if j.Hold == nil || j.Hold.State != "held" || j.Hold.Credits == 0 || j.HasEnded() {
		return ""
	}
	return "The " + credits(j.Hold.Credits) + " that it holds are given back."
}

// holdStates say what became of a hold.
var holdStates = map[string]string{
	"held": "held until the job has ended", "captured": "spent: the job has succeeded", "released": "given back: the job has not succeeded",
}

// Says what the hold is and what became of it.
func (h Hold) Says() string { return credits(h.Credits) + ", " + holdStates[h.State] }
