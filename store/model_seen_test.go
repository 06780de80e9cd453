package store_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"rendermac/fence"
)

// sightings count what the histories came across, so that they are not vacuous.
type sightings struct {
	mu sync.Mutex
	n  map[string]int
}

func (s *sightings) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n[what]++
}

// outcome notes what a message met, as "commit on active/uploading: ok".
func (s *sightings) outcome(event, at string, err error, how string) {
	switch {
	case err != nil:
		how = "refused"
	case how == "":
		how = "ok"
	}
	s.add(event + " on " + at + ": " + how)
}

func (w *twin) note(event string, c fence.Claim, err error, how string) {
	w.seen.outcome(event, w.where(c), err, how)
}

// where is how the job and the attempt stand that a claim speaks of; without an
// attempt, the job's live one.
func (w *twin) where(c fence.Claim) string {
	job, attempt := "none", "none"
	if j := w.model.Job(c.JobID); j != nil {
		job = string(j.Status)
	}
	for _, r := range w.model.Runs {
		if r.ID == c.AttemptID || c.AttemptID == "" && r.JobID == c.JobID && r.Status.Live() {
			attempt = string(r.Status)
		}
	}
	return job + "/" + attempt
}

// noteLive notes which live runs an event comes upon, of one device or of all.
func (w *twin) noteLive(event, device string) {
	for _, r := range w.model.Runs {
		if r.Status.Live() && (device == "" || r.DeviceID == device) {
			w.seen.add(event + " meets " + string(w.model.Job(r.JobID).Status) + "/" + string(r.Status))
		}
	}
}

// noteListed notes under which identity a resume comes, before it is answered.
func (w *twin) noteListed(list []fence.Claim) {
	for _, c := range list {
		r := w.model.Run(c.AttemptID)
		switch {
		case r == nil || !r.Status.Leased() || r.DeviceID != c.DeviceID:
			continue
		case c.Epoch == r.Epoch:
			w.seen.add("resume under the current epoch")
		case c.Epoch == r.PrevEpoch:
			w.seen.add("resume under the epoch whose answer was lost")
		default:
			w.seen.add("resume under an epoch long gone")
		}
	}
}

// mustSee is what every run of the histories has to come across. An entry is a
// whole name, or the beginning of one where it ends in an asterisk.
var mustSee = []string{
	"commit on active/uploading: ok", "commit on active/uploading: refused", "commit on active/running: refused",
	"commit on verifying/committing: again", "commit on verifying/committing: refused",
	"commit on cancelling/uploading: cancelled", "commit on cancelling/committing: cancelled",
	"commit on succeeded/succeeded: refused", "commit on cancelled/cancelled: refused", "commit on queued/*: refused", "commit on failed/lost: refused",
	"commit under a stale epoch refused", "fail on active/*: queued", "fail on active/*: failed", "fail on cancelling/*: cancelled",
	"fail on cancelling/committing: cancelled", "fail on verifying/committing: refused", "fail on succeeded/succeeded: refused", "budget spent",
	"verdict on verifying/committing: succeeded", "verdict on verifying/committing: failed", "verdict on cancelling/committing: cancelled",
	"verdict on succeeded/succeeded: ok", "verdict on cancelled/cancelled: ok",
	"progress on active/leased: ok", "progress on active/uploading: ok", "progress on verifying/committing: ok", "progress on cancelling/*: cancel",
	"progress on succeeded/succeeded: refused", "upload on active/leased: ok", "upload on cancelling/*: cancel",
	"upload on verifying/committing: refused", "inputs on active/*: ok", "inputs on verifying/committing: refused",
	"cancel on queued/none: ok", "cancel on active/uploading: ok", "cancel on verifying/committing: ok", "cancel on cancelling/*: ok", "cancel on succeeded/none: refused",
	"submit on none/none: refused", "credits short", "lease_offer lost", "hello_ok lost", "late bye",
	"resume under the current epoch", "resume under the epoch whose answer was lost",
	"bye meets active/*", "bye meets verifying/committing", "drain meets active/*", "drain meets verifying/committing", "pull while draining", "event device.resumed", "revoke meets active/*", "revoke meets verifying/committing", "revoke meets cancelling/*",
	"restart meets active/*", "restart meets verifying/committing", "restart meets cancelling/*",
	"crash meets active/*", "crash meets verifying/committing", "crash meets cancelling/*",
	"clock set back meets active/*", "clock set forward meets active/*", "clock set back meets cancelling/*", "clock set forward meets cancelling/*",
	"event attempt.resumed", "event job.requeued lease_expired", "event job.requeued provider_offline", "event job.requeued download_failed",
	"event job.failed input_failed", "event job.failed no_capacity", "event job.failed verification_failed", "event job.succeeded", "event job.cancelled buyer_cancelled",
}

func (s *sightings) check(t *testing.T) {
	for _, what := range mustSee {
		head, tail, any := strings.Cut(what, "*")
		n := 0
		for name, times := range s.n {
			if name == what || any && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail) {
				n += times
			}
		}
		if n == 0 {
			t.Errorf("no history saw %q: the histories are too tame to mean anything", what)
		}
	}
	if testing.Verbose() {
		for _, name := range slices.Sorted(maps.Keys(s.n)) {
			t.Logf("%8d %s", s.n[name], name)
		}
	}
}
