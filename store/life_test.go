package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// reopen closes the store and opens it again after the server's absence.
func (f *fixture) reopen(t *testing.T, absent time.Duration) {
	t.Helper()
	must(t, f.Close())
	f.clock.Jump(absent)
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
}

func TestF15_LeasesOutliveTheServersAbsence(t *testing.T) {
	f := open(t)
	live, cancelling := f.lease(t), f.lease(t)
	_, err := f.Cancel(ctx, cancelling.JobID)
	must(t, err)
	verifying := f.committing(t)
	f.reopen(t, time.Hour)
	out, err := f.Sweep(ctx)
	must(t, err)
	if len(out.Ended) != 1 || out.Ended[0].JobID != cancelling.JobID {
		t.Fatalf("the sweep ended %+v, want the cancelling one alone", out.Ended)
	}
	must(t, f.progress(live, fence.AttemptRunning))
	ids, err := f.Verifying(ctx)
	must(t, err)
	if len(ids) != 1 || ids[0] != verifying.AttemptID {
		t.Fatalf("verifying %v, want %s", ids, verifying.AttemptID)
	}
}

func TestF15_WhatHadExpiredBeforeStaysExpired(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	f.clock.Advance(storetest.TTL)
	_, err := f.Seen(ctx, f.mac)
	must(t, err) // the store has used a time past the expiry
	f.reopen(t, time.Minute)
	refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
}

func TestF15_ClockSetForwardOrBackMovesLeasesWithIt(t *testing.T) {
	for _, jump := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		f := open(t)
		c := f.lease(t)
		f.clock.Jump(jump)
		f.clock.Advance(storetest.TTL / 2)
		must(t, f.progress(c, fence.AttemptRunning))
		f.clock.Advance(storetest.TTL)
		refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
	}
}

func TestF18_RevokedStaysRevokedAfterARestore(t *testing.T) {
	f := open(t)
	paired := storetest.MustPair(t, f.DB, "laptop")
	s := storetest.MustHello(t, f.DB, paired.DeviceID).Session
	f.submit(t)
	c := storetest.Claim(s, storetest.MustLease(t, f.DB, s))
	before := f.dir
	_, err := f.Revoke(ctx, paired.DeviceID)
	must(t, err)
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobQueued, fence.AttemptLost)
	refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)

	// A restore brings the rows of before back; the file beside them stays.
	db := f.raw(t)
	must(t, exec(db, `DROP TRIGGER devices_revoked`))
	must(t, exec(db, `UPDATE devices SET revoked_at = NULL, online = 1 WHERE id = '`+paired.DeviceID+`'`))
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(before, f.clock))
	if known, err := f.KnowsToken(ctx, paired.Token); known || err != nil {
		t.Fatalf("a restored token works: %v, %v", known, err)
	}
}

func TestF3_ChainsWaitForTheirInput(t *testing.T) {
	f := open(t)
	first := f.submit(t)
	second := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: first}} })
	j, err := f.JobByID(ctx, second)
	must(t, err)
	if j.WaitingOn == nil || *j.WaitingOn != first {
		t.Fatalf("waiting on %v, want %s", j.WaitingOn, first)
	}
	c := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
	if c.JobID != first {
		t.Fatalf("leased %s before its input", c.JobID)
	}
	if out, err := f.Lease(ctx, f.mac, 1); err != nil || out.Offer != nil || !out.Idle {
		t.Fatalf("a waiting job was offered: %+v, %v", out, err)
	}
	_, err = f.Upload(ctx, c, result, []store.Part{{Number: 1, Bytes: 4, SHA256: result.SHA256}})
	must(t, err)
	_, err = f.Commit(ctx, c, result, nil)
	must(t, err)
	_, err = f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	offer := storetest.MustLease(t, f.DB, f.mac)
	if offer.JobID != second || len(offer.Inputs) != 1 || offer.Inputs[0].SHA256 != result.SHA256 || offer.Inputs[0].Key == "" {
		t.Fatalf("offer %+v", offer)
	}
}

func TestF10_AnInputThatEndsTakesItsDependentsWithIt(t *testing.T) {
	f := open(t)
	first := f.submit(t)
	second := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: first}} })
	third := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: second}} })
	_, err := f.Cancel(ctx, first)
	must(t, err)
	for _, id := range []string{second, third} {
		if j := storetest.MustStatus(t, f.DB, id, fence.JobFailed, ""); *j.FailureCode != fence.InputFailed {
			t.Errorf("job %s failed with %s", id, *j.FailureCode)
		}
	}
	_, err = f.Submit(ctx, func() store.NewJob {
		j := storetest.Job(f.account, "")
		j.Inputs = []store.NewInput{{JobID: first}}
		return j
	}())
	refused(t, err, fence.CodeInvalid)
}

func TestF11_HoldsAreSettledWithTheirJob(t *testing.T) {
	f := open(t)
	priced := func(j *store.NewJob) { j.Credits = 5 }
	won, lost := f.submit(t, priced), f.submit(t, priced)
	_, err := f.Cancel(ctx, lost)
	must(t, err)
	c := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
	_, err = f.Upload(ctx, c, result, []store.Part{{Number: 1, Bytes: 4, SHA256: result.SHA256}})
	must(t, err)
	_, err = f.Commit(ctx, c, result, nil)
	must(t, err)
	_, err = f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	for id, want := range map[string]string{won: "captured", lost: "released"} {
		j, err := f.JobByID(ctx, id)
		must(t, err)
		if j.Hold == nil || j.Hold.Credits != 5 || j.Hold.State != want {
			t.Errorf("hold %+v, want %s", j.Hold, want)
		}
	}
	db := f.raw(t)
	var debit, credit, lines int
	must(t, db.QueryRow(`SELECT sum(debit), sum(credit), count(*) FROM journal_lines`).Scan(&debit, &credit, &lines))
	if debit != credit || debit != 20 || lines != 8 {
		t.Errorf("the books: debit %d, credit %d in %d lines", debit, credit, lines)
	}
	if _, err := db.Exec(`UPDATE journals SET amount = 1`); err == nil {
		t.Error("a journal was changed")
	}
}

func TestF11_WebhookRowsAreWrittenWithTheFinalization(t *testing.T) {
	f := open(t)
	wants := func(j *store.NewJob) {
		j.WebhookURL, j.WebhookEvents = "https://example.test/hook", []string{"job.cancelled", "job.started"}
		j.Labels = map[string]string{"client": "acme"}
	}
	id := f.submit(t, wants)
	storetest.MustLease(t, f.DB, f.mac)
	_, err := f.Cancel(ctx, id)
	must(t, err)
	f.clock.Advance(storetest.TTL)
	_, err = f.Sweep(ctx)
	must(t, err)
	db := f.raw(t)
	rows, err := db.Query(`SELECT type, state, body FROM webhook_deliveries ORDER BY id`)
	must(t, err)
	defer rows.Close()
	var got []string
	for rows.Next() {
		var kind, state, body string
		must(t, rows.Scan(&kind, &state, &body))
		got = append(got, kind+" "+state)
		t.Log(body)
	}
	if len(got) != 2 || got[0] != "job.started pending" || got[1] != "job.cancelled pending" {
		t.Errorf("outbox %v", got)
	}
}

func TestF12_AnotherMacNeedNotWait(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	_, err := f.Fail(ctx, c, fence.InternalError, "hiccup")
	must(t, err)
	other := storetest.MustDevice(t, f.DB)
	if o := storetest.MustLease(t, f.DB, other); o.JobID != c.JobID || o.AttemptNumber != 2 {
		t.Fatalf("offer %+v", o)
	}
}

func TestF3_AMacAloneMayTryItsOwnFailureAgain(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	other := storetest.MustDevice(t, f.DB)
	_, err := f.Fail(ctx, c, fence.InternalError, "hiccup")
	must(t, err)
	f.clock.Advance(storetest.Backoff)
	if out, err := f.Lease(ctx, f.mac, 1); err != nil || out.Offer != nil {
		t.Fatalf("the Mac that ended it took it while another is online: %+v, %v", out, err)
	}
	_, err = f.Bye(ctx, other, nil)
	must(t, err)
	if o := storetest.MustLease(t, f.DB, f.mac); o.JobID != c.JobID {
		t.Fatalf("offer %+v", o)
	}
}

func TestPairingCodesWorkOnceAndForTenMinutes(t *testing.T) {
	f := open(t)
	p, err := f.CreatePairing(ctx, "studio-2")
	must(t, err)
	typed := " " + p.Code[:4] + " " + p.Code[5:] + " "
	d, err := f.Pair(ctx, typed, "mini", []byte(`{}`))
	must(t, err)
	got, err := f.DeviceByID(ctx, d.DeviceID)
	must(t, err)
	if got.Name != "studio-2" || got.State != "offline" {
		t.Errorf("device %+v", got)
	}
	_, err = f.Pair(ctx, p.Code, "again", nil)
	refused(t, err, store.CodeBadCode)
	late, err := f.CreatePairing(ctx, "")
	must(t, err)
	f.clock.Advance(store.PairingTTL)
	_, err = f.Pair(ctx, late.Code, "late", nil)
	refused(t, err, store.CodeBadCode)
	for _, bad := range []string{"", "K7QD", "K7QD-2MXP-1", "ÄÄÄÄ-ÄÄÄÄ", "00000000"} {
		_, err := f.Pair(ctx, bad, "x", nil)
		refused(t, err, store.CodeBadCode)
	}
}

// The batch that first sees a jump may be lost; the jump is not.
func TestF15_AJumpSeenByALostBatchIsStillMadeUpFor(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	f.clock.Jump(3 * time.Hour)
	refused(t, store.LoseABatch(f.DB), store.CodeUnavailable)
	must(t, f.progress(c, fence.AttemptRunning))
}

// A clock that is set, or a machine that sleeps, while a batch is at work is
// seen by the next batch: this one goes by the time at which it began, or a
// live run would be refused, or swept, just before its lease is moved.
func TestF15_AClockSetWhileABatchIsAtWork(t *testing.T) {
	for _, jump := range []time.Duration{3 * time.Hour, -3 * time.Hour} {
		f := open(t)
		must(t, f.Close())
		var set atomic.Bool
		o := storetest.Options(f.dir, f.clock)
		o.Mono = func() time.Duration { // the wall clock has been read just before
			if set.CompareAndSwap(true, false) {
				f.clock.Jump(jump)
			}
			return f.clock.Mono()
		}
		f.DB = storetest.MustOpen(t, o)
		c := f.lease(t)
		f.clock.Advance(storetest.TTL / 2)
		set.Store(true)
		must(t, f.progress(c, fence.AttemptRunning))
		f.clock.Advance(storetest.TTL - time.Second)
		out, err := f.Sweep(ctx)
		must(t, err)
		if len(out.Ended) > 0 {
			t.Fatalf("set by %s, the sweep ended %+v", jump, out.Ended)
		}
		f.clock.Advance(time.Second)
		refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
	}
}
