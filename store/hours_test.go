package store_test

import (
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// hours runs a story on a real store in a bubble, where time.Now is the store's
// only clock and hours pass as soon as everyone waits.
func hours(t *testing.T, ttl time.Duration, story func(t *testing.T, f *fixture)) {
	dir := memory(t)
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := &fixture{DB: storetest.MustOpen(t, store.Options{
			Path: filepath.Join(dir, "rendermac.db"), Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Rand: rand.Reader,
			LeaseTTL: ttl, DeviceTTL: 2 * ttl, RetryBackoff: 5 * time.Second, Resume: true, Log: slog.New(slog.DiscardHandler),
		})}
		f.account = storetest.MustAccount(t, f.DB)
		f.upload = storetest.MustUpload(t, f.DB, f.account)
		f.mac = storetest.MustDevice(t, f.DB)
		story(t, f)
		must(t, f.Close())
	})
}

// sleepUntil waits for exactly that instant.
func sleepUntil(at time.Time) { time.Sleep(time.Until(at)) }

// For a whole day one run after another is left to expire; each sweep comes at
// the deadline that the one before it named, finds just one lease, and a moment
// earlier it finds none (F13).
func TestF13_ADayOfLeasesEndsEachAtItsInstant(t *testing.T) {
	hours(t, 5*time.Minute, func(t *testing.T, f *fixture) {
		began, ended := time.Now(), 0
		for time.Since(began) < 24*time.Hour {
			f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
			c := f.lease(t)
			out, err := f.Sweep(ctx)
			must(t, err)
			if want := time.Now().Add(5 * time.Minute).Truncate(time.Millisecond); !out.Next.Equal(want) || len(out.Ended) > 0 {
				t.Fatalf("the sweep ended %v and looks again at %s, want nothing and %s", out.Ended, out.Next, want)
			}
			sleepUntil(out.Next.Add(-time.Millisecond))
			early, err := f.Sweep(ctx)
			must(t, err)
			sleepUntil(out.Next)
			late, err := f.Sweep(ctx)
			must(t, err)
			if len(early.Ended) != 0 || len(late.Ended) != 1 || late.Ended[0].AttemptID != c.AttemptID || late.Ended[0].Code != fence.LeaseExpired {
				t.Fatalf("a moment before the instant %v had ended, at the instant %v", early.Ended, late.Ended)
			}
			if _, err := f.Cancel(ctx, c.JobID); err != nil {
				t.Fatal(err)
			}
			ended++
		}
		if ended != 24*60/5 {
			t.Fatalf("%d leases ended in a day of five minutes each", ended)
		}
	})
}

// A heartbeat keeps a lease for as long as it comes; one that comes at the
// instant of the expiry comes too late, swept or not (F4, F5).
func TestF5_ADayOfHeartbeatsKeepsOneLease(t *testing.T) {
	hours(t, time.Minute, func(t *testing.T, f *fixture) {
		c := f.lease(t)
		for began := time.Now(); time.Since(began) < 24*time.Hour; {
			time.Sleep(time.Minute - time.Millisecond)
			out, err := f.Progress(ctx, c, store.Report{Phase: fence.AttemptRunning})
			must(t, err)
			if want := time.Now().Add(time.Minute).Truncate(time.Millisecond); !out.ExpiresAt.Equal(want) {
				t.Fatalf("the lease runs until %s, want %s", out.ExpiresAt, want)
			}
		}
		time.Sleep(time.Minute)
		refused(t, f.progress(c, fence.AttemptRunning), fence.CodeLeaseConflict)
		storetest.MustStatus(t, f.DB, c.JobID, fence.JobActive, fence.AttemptRunning)
	})
}

// The n-th failure makes its Mac wait 5 s × 2^(n−1), five minutes at the most; a
// pull says until when, and finds the job at that instant (F12).
func TestF12_BackoffDoublesUpToFiveMinutes(t *testing.T) {
	hours(t, time.Minute, func(t *testing.T, f *fixture) {
		id := f.submit(t, func(j *store.NewJob) { j.MaxAttempts = 10 })
		for n, wait := range []time.Duration{5, 10, 20, 40, 80, 160, 300, 300, 300} {
			c := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
			ended, err := f.Fail(ctx, c, fence.DownloadFailed, "no network")
			must(t, err)
			out, err := f.Lease(ctx, f.mac, 1<<20)
			must(t, err)
			want := time.Now().Add(wait * time.Second).Truncate(time.Millisecond)
			if ended.Job != fence.JobQueued || out.Offer != nil || !out.RetryAt.Equal(want) {
				t.Fatalf("after failure %d the job is %s and the Mac may come again at %s, want %s", n+1, ended.Job, out.RetryAt, want)
			}
			sleepUntil(want.Add(-time.Millisecond))
			if out, err := f.Lease(ctx, f.mac, 1<<20); err != nil || out.Offer != nil {
				t.Fatalf("a moment too early there was an offer: %v, %v", out.Offer, err)
			}
			sleepUntil(want)
		}
		c := storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
		_, err := f.Fail(ctx, c, fence.DownloadFailed, "no network")
		must(t, err)
		storetest.MustStatus(t, f.DB, id, fence.JobFailed, fence.AttemptFailed)
	})
}

// A Mac that is heard of stays online for hours, and is offline exactly its TTL
// after the last sign of life (F13).
func TestF13_ASilentMacIsOfflineAtItsInstant(t *testing.T) {
	hours(t, time.Minute, func(t *testing.T, f *fixture) {
		for range 12 * 60 {
			time.Sleep(time.Minute)
			_, err := f.Seen(ctx, f.mac)
			must(t, err)
			out, err := f.Sweep(ctx)
			must(t, err)
			if len(out.Offline) > 0 {
				t.Fatalf("a Mac that was heard of a moment ago went offline")
			}
		}
		out, err := f.Sweep(ctx)
		must(t, err)
		sleepUntil(out.Next)
		if out, err = f.Sweep(ctx); err != nil || len(out.Offline) != 1 || !out.Next.IsZero() {
			t.Fatalf("at its instant offline are %v, next %s, %v", out.Offline, out.Next, err)
		}
	})
}

// Jobs that nobody takes fail at their own admission deadlines, each found by
// the deadline that the sweep before it named (F13).
func TestF13_AdmissionDeadlinesEndJobsAtTheirInstants(t *testing.T) {
	hours(t, time.Minute, func(t *testing.T, f *fixture) {
		_, err := f.Bye(ctx, f.mac, nil)
		must(t, err)
		began := time.Now()
		due := map[string]time.Time{}
		for hour := range 24 {
			at := began.Add(time.Duration(24-hour) * time.Hour).Truncate(time.Millisecond)
			due[f.submit(t, func(j *store.NewJob) { j.Deadline = at })] = at
		}
		for range 24 {
			out, err := f.Sweep(ctx)
			must(t, err)
			sleepUntil(out.Next)
			out, err = f.Sweep(ctx)
			must(t, err)
			if len(out.Failed) != 1 || !due[out.Failed[0]].Equal(time.Now().Truncate(time.Millisecond)) {
				t.Fatalf("at %s the sweep failed %v", time.Now(), out.Failed)
			}
			storetest.MustStatus(t, f.DB, out.Failed[0], fence.JobFailed, "")
		}
	})
}

// A cancelling job ends within one TTL, whatever its agent says meanwhile (F5).
func TestF5_ACancelledJobOutlivesNoLease(t *testing.T) {
	hours(t, time.Minute, func(t *testing.T, f *fixture) {
		for range 60 {
			c := f.lease(t)
			time.Sleep(30 * time.Second)
			must(t, f.progress(c, fence.AttemptRunning))
			_, err := f.Cancel(ctx, c.JobID)
			must(t, err)
			cancelled := time.Now()
			for time.Since(cancelled) < time.Minute {
				must(t, f.progress(c, fence.AttemptRunning))
				time.Sleep(10 * time.Second)
			}
			_, err = f.Sweep(ctx)
			must(t, err)
			storetest.MustStatus(t, f.DB, c.JobID, fence.JobCancelled, fence.AttemptCancelled)
		}
	})
}
