package store_test

import (
	"slices"
	"testing"

	"rendermac/fence"
	"rendermac/store/storetest"
)

// The transaction that ends a run without success notes what it may have
// written; one that wrote nothing, or succeeded, leaves nothing to discard.
func TestF16_TheEndOfARunNotesWhatItMayHaveWritten(t *testing.T) {
	f := open(t)
	key := func(c fence.Claim) string { return "outputs/" + c.JobID + "/" + c.AttemptID + ".mp4" }
	var want []string
	idle := f.lease(t)
	_, err := f.Fail(ctx, idle, fence.RunnerFailed, "")
	must(t, err)
	won := f.committing(t)
	_, err = f.FinishCommit(ctx, won.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	failed := f.uploading(t)
	_, err = f.Fail(ctx, failed, fence.RunnerFailed, "")
	must(t, err)
	refused := f.committing(t)
	_, err = f.FinishCommit(ctx, refused.AttemptID, fence.Verdict{Code: fence.VerificationFailed}, "", nil)
	must(t, err)
	lost := f.uploading(t)
	_, err = f.Bye(ctx, f.mac, nil)
	must(t, err)
	for _, c := range []fence.Claim{failed, refused, lost} {
		want = append(want, key(c))
	}
	got, err := f.Discards(ctx, "", 10)
	must(t, err)
	if !slices.Equal(got, want) {
		t.Fatalf("to discard: %v, want %v", got, want)
	}
	must(t, f.Discarded(ctx, want[1]))
	must(t, f.Discarded(ctx, want[1]))
	f.reopen(t, 0)
	if got, err = f.Discards(ctx, want[0], 10); err != nil || !slices.Equal(got, want[2:]) {
		t.Fatalf("after a restart: %v, %v", got, err)
	}
	storetest.MustStatus(t, f.DB, won.JobID, fence.JobSucceeded, fence.AttemptSucceeded)
}
