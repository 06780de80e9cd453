package store_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rendermac/store"
	"rendermac/store/storetest"
)

// painted is a device's day, second by second, found the slow way: pauses of two
// minutes and less are closed.
func painted(all []past, device, account string, now time.Time) (spans []store.Span) {
	from := now.Add(-store.Day)
	var day [86400]bool
	for _, p := range all {
		if p.device != device || account != "" && p.account != account || !p.end().After(from) {
			continue
		}
		for s := max(0, int(p.submitted.Add(p.wait).Sub(from)/time.Second)); s < int(min(store.Day, p.end().Sub(from))/time.Second); s++ {
			day[s] = true
		}
	}
	for s := 0; s < len(day); s++ {
		if !day[s] {
			continue
		}
		at := from.Add(time.Duration(s) * time.Second)
		if n := len(spans); n == 0 || at.Sub(spans[n-1].To) > 2*time.Minute {
			spans = append(spans, store.Span{From: at})
		}
		spans[len(spans)-1].To = at.Add(time.Second)
	}
	return spans
}

func TestLastDay_IsTheTruthOfARandomHistory(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	f := open(t)
	f.withAccount(t, "acc_b")
	devices := []string{f.mac.DeviceID, storetest.MustDevice(t, f.DB).DeviceID}
	f.clock.Advance(9 * time.Hour)
	now := f.clock.Now()
	must(t, f.Close())
	db := rawAt(t, f.dir)
	for _, trigger := range column(t, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		must(t, exec(db, "DROP TRIGGER "+trigger))
	}
	var all []past
	for n := range 300 {
		seconds := func(most int) time.Duration { return time.Duration(1+r.IntN(most)) * time.Second }
		p := past{
			account: []string{f.account, "acc_b"}[r.IntN(2)], status: []string{"succeeded", "failed", "cancelled"}[r.IntN(3)],
			device: devices[r.IntN(2)], submitted: now.Add(-seconds(30 * 3600)), wait: seconds(60), run: seconds(20 * 60), test: seconds(30), claimed: true,
		}
		if p.end().After(now) {
			continue
		}
		insertPast(t, db, n, p)
		all = append(all, p)
	}
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	for _, account := range []string{"", f.account, "acc_b"} {
		day, err := f.LastDay(ctx, account)
		must(t, err)
		if !day.At.Equal(now) || len(day.Worked) != 2 {
			t.Fatalf("%d devices at %s, want two at %s", len(day.Worked), day.At, now)
		}
		for _, device := range devices {
			if want := painted(all, device, account, now); !slices.Equal(day.Worked[device], want) {
				t.Errorf("account %q: worked %v, want %v", account, day.Worked[device], want)
			}
		}
		if want := truth(all, account, now).Hours; !slices.Equal(day.Hours, want) {
			t.Errorf("account %q: hours %v, want %v", account, day.Hours, want)
		}
		if want := typical(all); !maps.Equal(day.Typical, want) {
			t.Errorf("a run takes %v, want %v", day.Typical, want)
		}
	}
}

func typical(all []past) map[string]time.Duration {
	var took []time.Duration
	for _, p := range all {
		if p.status == "succeeded" {
			took = append(took, p.run+p.test)
		}
	}
	slices.Sort(took)
	return map[string]time.Duration{"ffmpeg.transcode": took[len(took)/2]}
}

// BenchmarkOverview is a look at everything beside a million jobs that all ended
// within the day, against an empty database, in milliseconds.
func BenchmarkOverview(b *testing.B) {
	fullDir := b.TempDir()
	fill(b, fullDir, finished)
	studios := map[string]*studio{"empty": openStudio(b, b.TempDir()), "million": openStudio(b, fullDir)}
	for name, s := range studios {
		for range 200 {
			if _, err := s.Submit(ctx, s.job); err != nil {
				b.Fatal(err)
			}
		}
		for _, mac := range s.macs[:40] {
			storetest.MustLease(b, s.DB, mac)
		}
		for _, account := range []string{"", s.job.AccountID} {
			for look, read := range map[string]func() error{
				"overview": func() error { _, err := s.Overview(ctx, account); return err },
				"day":      func() error { _, err := s.LastDay(ctx, account); return err },
			} {
				b.Run(fmt.Sprintf("%s of %s, account %v", look, name, account != ""), func(b *testing.B) {
					for b.Loop() {
						if err := read(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/look")
				})
			}
		}
	}
}
