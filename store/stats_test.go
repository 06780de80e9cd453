package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// past makes a finished job's rows by hand, past the triggers: the history that
// the numbers are held against.
type past struct {
	account, status string
	device          string // "" where it never ran
	submitted       time.Time
	wait, run, test time.Duration
	claimed         bool // it came as far as its commit
}

func (p past) end() time.Time { return p.submitted.Add(p.wait + p.run + p.test) }

func insertPast(t *testing.T, db *sql.DB, n int, p past) {
	t.Helper()
	id, at := fmt.Sprintf("%s%016d", store.FirstJobID(p.submitted)[:14], n), func(d time.Duration) int64 { return p.submitted.Add(d).UnixMilli() }
	must(t, exec(db, fmt.Sprintf(`INSERT INTO jobs (id, account_id, status, service, params, resolved, needs, priority, max_attempts, webhook_events,
		output_name, output_ext, content_type, labels, attempts, created_at, started_at, finished_at)
		VALUES ('%s', '%s', '%s', 'ffmpeg.transcode', '{}', '{}', '{}', 0, 3, '[]', 'a', 'mp4', 'video/mp4', '{}', %d, %d, %s, %d)`,
		id, p.account, p.status, map[bool]int{true: 1}[p.device != ""], at(0),
		map[bool]string{true: fmt.Sprint(at(p.wait)), false: "NULL"}[p.device != ""], p.end().UnixMilli())))
	if p.device == "" {
		return
	}
	claimed := "NULL"
	if p.claimed {
		claimed = fmt.Sprint(at(p.wait + p.run))
	}
	must(t, exec(db, fmt.Sprintf(`INSERT INTO job_attempts (id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at,
		output_key, leased_at, verify_started_at, ended_at)
		VALUES ('att_%d', '%s', 1, '%s', '%s', 1, '%s', 0, 'o%d', %d, %s, %d)`,
		n, id, p.status, p.device, store.HashSecret(id), n, at(p.wait), claimed, p.end().UnixMilli())))
}

// truth is what the numbers must be, found the slow way.
func truth(all []past, account string, now time.Time) store.Stats {
	s := store.Stats{At: now}
	var waits, runs, tests []time.Duration
	from := now.Truncate(time.Hour).Add(-23 * time.Hour)
	for h := range 24 {
		s.Hours = append(s.Hours, store.Hour{From: from.Add(time.Duration(h) * time.Hour)})
	}
	hour := func(at time.Time) *store.Hour {
		for i := range s.Hours {
			if d := at.Sub(s.Hours[i].From); d >= 0 && d < time.Hour {
				return &s.Hours[i]
			}
		}
		return new(store.Hour)
	}
	for _, p := range all {
		if account != "" && p.account != account {
			continue
		}
		hour(p.submitted).Submitted++
		switch p.status {
		case "succeeded":
			hour(p.end()).Succeeded++
		case "failed":
			hour(p.end()).Failed++
		case "cancelled":
			hour(p.end()).Cancelled++
		}
		if ago := now.Sub(p.end()); ago < 0 || ago >= store.Day || p.device == "" {
			continue
		}
		waits = append(waits, p.wait)
		if p.claimed {
			runs, tests = append(runs, p.run), append(tests, p.test)
		}
	}
	s.Wait, s.Run, s.Verify = ranks(waits), ranks(runs), ranks(tests)
	return s
}

// ranks counts, for each percentile, how many values are no longer.
func ranks(list []time.Duration) store.Percentiles {
	rank := func(percent int) time.Duration {
		best := time.Duration(0)
		for _, v := range list {
			n := 0
			for _, w := range list {
				if w <= v {
					n++
				}
			}
			if n*100 >= percent*len(list) && (best == 0 || v < best) {
				best = v
			}
		}
		return best
	}
	return store.Percentiles{Jobs: len(list), P50: rank(50), P90: rank(90), P99: rank(99)}
}

func TestStats_AreTheTruthOfARandomHistory(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	f := open(t)
	other := storetest.MustDevice(t, f.DB).DeviceID
	f.clock.Advance(time.Duration(r.IntN(int(2 * time.Hour)))) // also within the hour
	now := f.clock.Now().Truncate(time.Millisecond)
	must(t, f.Close())
	db := rawAt(t, f.dir)
	must(t, exec(db, `INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_other', 'other', 'whsec_', 0)`))
	for _, trigger := range column(t, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		must(t, exec(db, "DROP TRIGGER "+trigger))
	}
	var all []past
	worked := map[string]time.Duration{}
	upTo := func(d time.Duration) time.Duration {
		return time.Duration(1+r.IntN(int(d/time.Millisecond))) * time.Millisecond
	}
	for n := range 150 {
		p := past{
			account: []string{f.account, "acc_other"}[r.IntN(2)], status: []string{"succeeded", "failed", "cancelled"}[r.IntN(3)],
			device: []string{f.mac.DeviceID, other, ""}[r.IntN(3)], wait: upTo(time.Hour), run: upTo(2 * time.Hour), test: upTo(time.Minute),
		}
		switch r.IntN(4) { // also at the very edges of an hour and of the day
		case 0:
			p.submitted = now.Truncate(time.Hour).Add(-time.Duration(r.IntN(26)) * time.Hour)
		case 1:
			p.submitted = now.Add(-store.Day - p.wait - p.run - p.test + time.Duration(r.IntN(3)-1)*time.Millisecond)
		default:
			p.submitted = now.Add(-upTo(27 * time.Hour))
		}
		if p.status == "succeeded" && p.device == "" {
			p.device = other
		}
		if p.end().After(now) {
			continue
		}
		p.claimed = p.device != "" && (p.status == "succeeded" || r.IntN(2) == 0)
		insertPast(t, db, n, p)
		all = append(all, p)
		if from, day := p.submitted.Add(p.wait), now.Add(-store.Day); p.device != "" && p.end().After(day) {
			if from.Before(day) {
				from = day
			}
			worked[p.device] += p.end().Sub(from)
		}
	}
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	for _, account := range []string{"", f.account, "acc_other", "acc_none"} {
		got, err := f.Stats(ctx, account)
		must(t, err)
		want := truth(all, account, now)
		if got.Wait != want.Wait || got.Run != want.Run || got.Verify != want.Verify {
			t.Errorf("%q: waits %+v, runs %+v, tests %+v; want %+v, %+v, %+v", account, got.Wait, got.Run, got.Verify, want.Wait, want.Run, want.Verify)
		}
		if !slices.Equal(got.Hours, want.Hours) {
			t.Errorf("%q: hours %v, want %v", account, got.Hours, want.Hours)
		}
		if len(got.Devices) != 2 || len(got.Queue) != 0 {
			t.Fatalf("%q: %+v", account, got)
		}
		for _, d := range got.Devices {
			if d.Worked != worked[d.ID] || d.Busy != 0 {
				t.Errorf("%s worked %s and has %d busy, want %s and none", d.ID, d.Worked, d.Busy, worked[d.ID])
			}
		}
	}
}

func TestStats_OfAnEmptyStudio(t *testing.T) {
	f := open(t)
	s, err := f.Stats(ctx, "")
	must(t, err)
	if s.Wait != (store.Percentiles{}) || len(s.Queue) != 0 || len(s.Hours) != 24 || s.Hours[23].From != s.At.Truncate(time.Hour) {
		t.Errorf("%+v", s)
	}
}

func TestStats_QueueAndLiveDevices(t *testing.T) {
	f := open(t)
	f.lease(t)
	f.clock.Advance(time.Minute / 2)
	queued := f.clock.Now()
	f.submit(t)
	f.clock.Advance(time.Minute / 4)
	f.submit(t)
	s, err := f.Stats(ctx, f.account)
	must(t, err)
	want := []store.QueueDepth{
		{Service: "ffmpeg.transcode", Status: fence.JobActive, Jobs: 1, Oldest: queued.Add(-time.Minute / 2)},
		{Service: "ffmpeg.transcode", Status: fence.JobQueued, Jobs: 2, Oldest: queued},
	}
	if !slices.Equal(s.Queue, want) {
		t.Errorf("queue %v, want %v", s.Queue, want)
	}
	if d := s.Devices[0]; d.Busy != 1 || d.Slots != 2 || d.State != "online" || d.Worked != time.Minute*3/4 {
		t.Errorf("the device is %+v", d)
	}
	if h := s.Hours[23]; h.Submitted != 3 || h.Succeeded+h.Failed+h.Cancelled != 0 {
		t.Errorf("this hour is %+v", h)
	}
	_, err = f.Revoke(ctx, f.mac.DeviceID)
	must(t, err)
	s, err = f.Stats(ctx, f.account)
	must(t, err)
	if len(s.Devices) != 0 {
		t.Errorf("a revoked device is among %v", s.Devices)
	}
}

func TestLevels_CountRowsAndFiles(t *testing.T) {
	f := open(t)
	f.submit(t)
	l, err := f.Levels(ctx)
	must(t, err)
	if len(l.Queue) != 1 || l.Queue[0].Jobs != 1 || l.Devices["online"] != 1 || l.Webhooks["pending"] != 0 || l.Webhooks["failed"] != 0 {
		t.Errorf("%+v", l)
	}
	files, err := f.Files()
	must(t, err)
	if files.Database <= 0 || files.WAL <= 0 || files.Free <= 0 {
		t.Errorf("%+v", files)
	}
}

// The writer says how many shared a COMMIT, how long the first one stood in line
// and that a batch was lost; adding them up gives every transaction once.
func TestObserve_HearsEveryBatch(t *testing.T) {
	var batches []store.Batch
	o := storetest.Options(t.TempDir(), storetest.NewClock())
	o.Observe = func(b store.Batch) { batches = append(batches, b) }
	db := storetest.MustOpen(t, o)
	account := storetest.MustAccount(t, db)
	for range 3 {
		storetest.MustUpload(t, db, account)
	}
	if store.LoseABatch(db) == nil {
		t.Error("the batch was not lost")
	}
	must(t, db.Close()) // waits for the writer, so that what it has said is there
	n := 0
	for i, b := range batches {
		n += b.Closures
		if b.Closures < 1 || b.Lost != (i == len(batches)-1) || b.Waited < 0 || b.Took < 0 {
			t.Errorf("%+v", b)
		}
	}
	if n < 8 { // the first start's two and two for each upload, beside what opening takes
		t.Errorf("%d transactions were heard of", n)
	}
}

// Ids go on from where the clock was; the hours go by when a job was submitted.
func TestStats_CountSubmitsAfterTheClockWasSetBack(t *testing.T) {
	f := open(t)
	f.submit(t)
	f.clock.Jump(-3 * time.Hour)
	f.submit(t)
	f.submit(t)
	s, err := f.Stats(ctx, "")
	must(t, err)
	if last := s.Hours[len(s.Hours)-1]; last.Submitted != 2 {
		t.Errorf("in this hour %d were submitted, want 2: %+v", last.Submitted, s.Hours)
	}
}
