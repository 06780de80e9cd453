package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// mustFull is a server with ten thousand jobs of the day behind it, and twelve
// Macs that run two each; it gives the job of one of those.
func mustFull(b testing.TB) (h *httpServer, running string) {
	b.Helper()
	var macs []string
	h = mustServeOf(b, func(o *store.Options) {
		db := storetest.MustOpen(b, *o)
		for n := range 12 {
			macs = append(macs, storetest.MustPair(b, db, fmt.Sprintf("mini-%02d", n+1)).DeviceID)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
		storetest.MustHistory(b, o.Path, o.Now(), 10_000)
	})
	for _, mac := range macs {
		s := storetest.MustHello(b, h.db, mac).Session
		for range 2 {
			c := storetest.Claim(s, storetest.MustLease(b, h.db, s))
			if _, err := h.db.Progress(context.Background(), c, store.Report{Phase: fence.AttemptRunning, Fraction: ptr(0.5), FPS: ptr(118.0), ETA: ptr(95.0)}); err != nil {
				b.Fatal(err)
			}
			running = c.JobID
		}
	}
	return h, running
}

// BenchmarkPages is how long the server takes for each page of the dashboard, the
// statistics looked at anew each time, and how large it is.
func BenchmarkPages(b *testing.B) {
	h, running := mustFull(b)
	for _, path := range []string{"/", "/jobs", "/jobs?q=reel-00017", "/jobs?status=failed", "/jobs/" + running, "/new", "/devices", "/settings"} {
		for scope, key := range map[string]string{"admin": h.admin, "submit": h.submit} {
			b.Run(path+" "+scope, func(b *testing.B) {
				size, best := 0, time.Hour // the best of them: a busy machine is not the page's fault
				for b.Loop() {
					h.clock.Advance(statsAge)
					start := time.Now()
					size = len(h.get(path, key).is(200).body)
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(size)/1000, "kB")
				b.ReportMetric(float64(best.Microseconds())/1000, "ms/page")
			})
		}
	}
}
