package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

var ctx = context.Background()

// bench is one store with an account, an upload and a device.
type fixture struct {
	*store.DB
	clock           *storetest.Clock
	dir             string
	account, upload string
	mac             store.Session
}

func open(tb testing.TB) *fixture {
	tb.Helper()
	f := &fixture{clock: storetest.NewClock(), dir: tb.TempDir()}
	f.DB = storetest.MustOpen(tb, storetest.Options(f.dir, f.clock))
	f.account = storetest.MustAccount(tb, f.DB)
	f.upload = storetest.MustUpload(tb, f.DB, f.account)
	f.mac = storetest.MustDevice(tb, f.DB)
	return f
}

func (f *fixture) submit(tb testing.TB, change ...func(*store.NewJob)) string {
	tb.Helper()
	j := storetest.Job(f.account, f.upload)
	for _, c := range change {
		c(&j)
	}
	return storetest.MustSubmit(tb, f.DB, j)
}

// lease submits a job and leases it to the fixture's device.
func (f *fixture) lease(tb testing.TB) fence.Claim {
	tb.Helper()
	f.submit(tb)
	return storetest.Claim(f.mac, storetest.MustLease(tb, f.DB, f.mac))
}

func (f *fixture) progress(c fence.Claim, phase fence.AttemptStatus) error {
	_, err := f.Progress(ctx, c, store.Report{Phase: phase})
	return err
}

var result = fence.Result{Bytes: 4, SHA256: fence.HashToken("clip")}

// uploading brings a run to where it may commit.
func (f *fixture) uploading(tb testing.TB) fence.Claim {
	tb.Helper()
	c := f.lease(tb)
	f.uploads(tb, c)
	return c
}

func (f *fixture) uploads(tb testing.TB, c fence.Claim) {
	tb.Helper()
	_, err := f.Upload(ctx, c, result, []store.Part{{Number: 1, Bytes: 4, SHA256: result.SHA256}})
	must(tb, err)
}

// committing brings a run past F6.
func (f *fixture) committing(tb testing.TB) fence.Claim {
	tb.Helper()
	return f.commits(tb, f.lease(tb))
}

func (f *fixture) commits(tb testing.TB, c fence.Claim) fence.Claim {
	tb.Helper()
	f.uploads(tb, c)
	out, err := f.Commit(ctx, c, result, nil)
	must(tb, err)
	if out.Step != fence.CommitAccept {
		tb.Fatalf("commit took step %d, want accept", out.Step)
	}
	return c
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func refused(tb testing.TB, err error, code string) {
	tb.Helper()
	if fence.CodeOf(err) != code {
		tb.Fatalf("got %v (code %q), want code %q", err, fence.CodeOf(err), code)
	}
}

func TestTheWholeCycleSucceeds(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobVerifying, fence.AttemptCommitting)
	out, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", []byte(`{"container":"mp4"}`))
	must(t, err)
	if out.Ended == nil || out.Ended.Job != fence.JobSucceeded {
		t.Fatalf("outcome %+v", out)
	}
	j := storetest.MustStatus(t, f.DB, c.JobID, fence.JobSucceeded, fence.AttemptSucceeded)
	if j.Artifact == nil || j.Artifact.SHA256 != result.SHA256 || j.OutputName != "clip.mp4" || j.FinishedAt == nil {
		t.Fatalf("job %+v has no right artifact", j)
	}
}

func TestF8_NotVerifiedFailsBoth(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Code: fence.VerificationFailed}, "it is half a file", nil)
	must(t, err)
	j := storetest.MustStatus(t, f.DB, c.JobID, fence.JobFailed, fence.AttemptFailed)
	if j.Artifact != nil || *j.FailureCode != fence.VerificationFailed || *j.FailureMessage != "it is half a file" {
		t.Fatalf("job %+v", j)
	}
}

func TestF8_VerdictOnAnEndedAttemptDoesNothing(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	out, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Code: fence.VerificationFailed}, "late", nil)
	must(t, err)
	if out.Ended != nil {
		t.Fatalf("a second verdict ended %+v", out.Ended)
	}
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobSucceeded, fence.AttemptSucceeded)
}

func TestF6_SecondCommitWhileCommittingIsAcceptedAgain(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	out, err := f.Commit(ctx, c, result, nil)
	must(t, err)
	if out.Step != fence.CommitAgain {
		t.Fatalf("step %d, want again", out.Step)
	}
	_, err = f.Commit(ctx, c, fence.Result{Bytes: 5, SHA256: result.SHA256}, nil)
	refused(t, err, fence.CodeCommitConflict)
}

func TestF6_CommitAfterExpiryIsRefused(t *testing.T) {
	f := open(t)
	c := f.uploading(t)
	f.clock.Advance(storetest.TTL) // expired from its instant, though nobody has swept
	_, err := f.Commit(ctx, c, result, nil)
	refused(t, err, fence.CodeCommitConflict)
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobActive, fence.AttemptUploading)
}

func TestF6_LosingCommitFinalizesACancellingJob(t *testing.T) {
	f := open(t)
	c := f.uploading(t)
	_, err := f.Cancel(ctx, c.JobID)
	must(t, err)
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobCancelling, fence.AttemptUploading)
	out, err := f.Commit(ctx, c, result, nil)
	must(t, err)
	if out.Ended == nil || out.Ended.Code != fence.BuyerCancelled {
		t.Fatalf("outcome %+v", out)
	}
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobCancelled, fence.AttemptCancelled)
}

func TestF4_EveryWrongIdentityIsRefusedAndChangesNothing(t *testing.T) {
	f := open(t)
	c := f.uploading(t)
	other := storetest.MustDevice(t, f.DB)
	wrong := map[string]func(fence.Claim) fence.Claim{
		"device":  func(c fence.Claim) fence.Claim { c.DeviceID, c.SessionID = other.DeviceID, other.SessionID; return c },
		"session": func(c fence.Claim) fence.Claim { c.SessionID = "ses_0"; return c },
		"job":     func(c fence.Claim) fence.Claim { c.JobID = "job_0"; return c },
		"attempt": func(c fence.Claim) fence.Claim { c.AttemptID = "att_0"; return c },
		"epoch":   func(c fence.Claim) fence.Claim { c.Epoch++; return c },
	}
	for what, change := range wrong {
		t.Run(what, func(t *testing.T) {
			c := change(c)
			refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
			_, _, err := f.Inputs(ctx, c)
			refused(t, err, fence.CodeLeaseConflict)
			_, err = f.Upload(ctx, c, result, nil)
			refused(t, err, fence.CodeLeaseConflict)
			refused(t, f.AppendLog(ctx, c, "x"), fence.CodeLeaseConflict)
			_, err = f.Commit(ctx, c, result, nil)
			refused(t, err, fence.CodeCommitConflict)
			_, err = f.Fail(ctx, c, fence.RunnerFailed, "x")
			refused(t, err, fence.CodeCommitConflict)
		})
	}
	t.Run("token", func(t *testing.T) {
		c := c
		c.Token += "x"
		_, err := f.Commit(ctx, c, result, nil)
		refused(t, err, fence.CodeCommitConflict)
		_, err = f.Fail(ctx, c, fence.RunnerFailed, "x")
		refused(t, err, fence.CodeCommitConflict)
	})
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobActive, fence.AttemptUploading)
	_, err := f.Commit(ctx, c, result, nil)
	must(t, err)
}

func TestF12_RetryablesAreTriedAgainUntilTheBudgetIsSpent(t *testing.T) {
	f := open(t)
	id := f.submit(t)
	for n := 1; n <= 3; n++ {
		c := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
		e, err := f.Fail(ctx, c, fence.DownloadFailed, "no route")
		must(t, err)
		if requeued := e.Job == fence.JobQueued; requeued != (n < 3) {
			t.Fatalf("attempt %d: job %s", n, e.Job)
		}
		if n < 3 {
			out, err := f.Lease(ctx, f.mac, 1)
			must(t, err)
			wait := fence.Backoff(storetest.Backoff, n)
			if out.Offer != nil || !out.RetryAt.Equal(f.clock.Now().Add(wait)) {
				t.Fatalf("attempt %d: the device that failed it waits until %v, want %v", n, out.RetryAt, f.clock.Now().Add(wait))
			}
			f.clock.Advance(wait)
		}
	}
	j := storetest.MustStatus(t, f.DB, id, fence.JobFailed, fence.AttemptFailed)
	if len(j.Attempts) != 3 || *j.FailureCode != fence.DownloadFailed {
		t.Fatalf("job %+v", j)
	}
}

func TestF13_SweepEndsExpiredLeasesAndCancellingJobs(t *testing.T) {
	f := open(t)
	kept, cancelled := f.lease(t), f.lease(t)
	_, err := f.Cancel(ctx, cancelled.JobID)
	must(t, err)
	out, err := f.Sweep(ctx)
	must(t, err)
	if len(out.Ended) != 0 || !out.Next.Equal(f.clock.Now().Add(storetest.TTL)) {
		t.Fatalf("early sweep: %+v", out)
	}
	f.clock.Advance(storetest.TTL)
	out, err = f.Sweep(ctx)
	must(t, err)
	if len(out.Ended) != 2 {
		t.Fatalf("sweep ended %d attempts, want 2", len(out.Ended))
	}
	storetest.MustStatus(t, f.DB, kept.JobID, fence.JobQueued, fence.AttemptLost)
	storetest.MustStatus(t, f.DB, cancelled.JobID, fence.JobCancelled, fence.AttemptCancelled)
}

func TestF13_CommittingOutlivesItsLease(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	f.clock.Advance(24 * time.Hour)
	out, err := f.Sweep(ctx)
	must(t, err)
	if len(out.Ended) != 0 {
		t.Fatalf("the sweeper ended %+v", out.Ended)
	}
	must(t, f.progress(c, fence.AttemptUploading)) // a heartbeat, answered
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobVerifying, fence.AttemptCommitting)
}

func TestWriter_ErrorUndoesItsOwnClosureOnly(t *testing.T) {
	f := open(t)
	bad := storetest.Job(f.account, "upl_none")
	good := storetest.Job(f.account, f.upload)
	bad.At = "jobs[1]."
	_, err := f.Submit(ctx, good, bad)
	refused(t, err, fence.CodeInvalid)
	var e *fence.Error
	if !errors.As(err, &e) || len(e.Faults) != 1 || e.Faults[0].Location != "jobs[1].inputs[0].upload_id" {
		t.Fatalf("faults %+v", e)
	}
	page, err := f.Jobs(ctx, store.JobFilter{Limit: 10})
	must(t, err)
	if len(page.Jobs) != 0 {
		t.Fatalf("%d jobs were stored of a batch that was refused", len(page.Jobs))
	}
}
