package store_test

import (
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store/storetest"
)

// What the histories have found, each told by itself.

func TestF15_IDsGrowOverSeveralStartsWhileTheClockIsBehind(t *testing.T) {
	f := open(t)
	last := f.submit(t)
	f.reopen(t, -time.Hour)
	for range 20 {
		id := f.submit(t)
		if id <= last {
			t.Fatalf("job %s came after %s and sorts before it", id, last)
		}
		last = id
		f.reopen(t, time.Second)
	}
}

func TestF12_NoBackoffOutlivesAClockSetBackMeanwhile(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	_, err := f.Fail(ctx, c, fence.DownloadFailed, "no network")
	must(t, err)
	f.reopen(t, -3*time.Hour)
	f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
	f.clock.Advance(fence.MaxBackoff)
	if o := storetest.MustLease(t, f.DB, f.mac); o.JobID != c.JobID {
		t.Fatalf("the Mac was offered %s, want %s", o.JobID, c.JobID)
	}
}

func TestF12_ABackoffMovesWhileAnotherMacHasTheJob(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	_, err := f.Fail(ctx, c, fence.DownloadFailed, "no network")
	must(t, err)
	other := storetest.MustHello(t, f.DB, storetest.MustPair(t, f.DB, "other").DeviceID).Session
	storetest.MustLease(t, f.DB, other)
	f.clock.Jump(-3 * time.Hour)
	_, err = f.Bye(ctx, other, nil)
	must(t, err)
	f.clock.Advance(storetest.Backoff)
	if o := storetest.MustLease(t, f.DB, f.mac); o.JobID != c.JobID {
		t.Fatalf("the Mac was offered %s, want %s", o.JobID, c.JobID)
	}
}
