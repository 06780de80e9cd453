package store_test

import (
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// How well a device does is said of its last fifty, without those that were
// cancelled, and without those that no device could have brought to a good end.
func TestLately_CountsTheLastFiftyThatSpeakOfTheDevice(t *testing.T) {
	f := open(t)
	idle := storetest.MustPair(t, f.DB, "idle").DeviceID
	fail := func(code string) {
		t.Helper()
		f.clock.Advance(time.Second)
		_, err := f.Fail(ctx, f.uploading(t), code, "")
		must(t, err)
	}
	for range 2 {
		fail(fence.RunnerFailed)
	}
	fail(fence.InputFailed)
	c := f.lease(t)
	_, err := f.Cancel(ctx, c.JobID)
	must(t, err)
	_, err = f.Fail(ctx, c, fence.RunnerFailed, "stopped")
	must(t, err)
	storetest.MustStatus(t, f.DB, c.JobID, fence.JobCancelled, fence.AttemptCancelled)
	for range 3 {
		f.clock.Advance(time.Second)
		f.succeeds(t, f.committing(t))
	}
	if got, err := f.Lately(ctx); err != nil || len(got) != 1 || got[f.mac.DeviceID] != (store.Lately{Ended: 5, Succeeded: 3}) {
		t.Fatalf("lately %+v, %v, and of %s nothing", got, err, idle)
	}
	for range 49 {
		fail(fence.RunnerFailed)
	}
	if got, err := f.Lately(ctx); err != nil || got[f.mac.DeviceID] != (store.Lately{Ended: 50, Succeeded: 1}) {
		t.Errorf("lately %+v, %v", got, err)
	}
}

// However long a device's history is, its newest are found by an index.
func TestLately_LooksAtNoOldAttempt(t *testing.T) {
	steps := plan(t, open(t).raw(t), store.LatelyQuery(), 50)
	searches := 0
	for _, step := range steps {
		if strings.Contains(step, "job_attempts") {
			searches++
			if strings.Replace(step, "COVERING ", "", 1) != "SEARCH job_attempts USING INDEX job_attempts_ended (device_id=? AND status=? AND ended_at>?)" {
				t.Error(step)
			}
		}
	}
	if sorts := strings.Count(strings.Join(steps, "\n"), "TEMP B-TREE"); searches != 3 || sorts != 1 {
		t.Errorf("%d searches and %d sorts: %q", searches, sorts, steps)
	}
}

// A Mac that connects anew is online since it was before; one that was away is not.
func TestDevice_IsOnlineSinceItCame(t *testing.T) {
	f := open(t)
	since := func() time.Time {
		t.Helper()
		d, err := f.DeviceByID(ctx, f.mac.DeviceID)
		must(t, err)
		return *d.OnlineSince
	}
	came := since()
	f.clock.Advance(time.Second)
	f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
	_, err := f.Seen(ctx, f.mac)
	must(t, err)
	if got := since(); !got.Equal(came) {
		t.Errorf("after it has replaced its session it is online since %s, want %s", got, came)
	}
	_, err = f.Bye(ctx, f.mac, nil)
	must(t, err)
	f.clock.Advance(time.Second)
	f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
	if got := since(); !got.Equal(came.Add(2 * time.Second)) {
		t.Errorf("after it was away it is online since %s", got)
	}
}
