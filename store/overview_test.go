package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

func (f *fixture) overview(t *testing.T, account string) store.Overview {
	t.Helper()
	o, err := f.Overview(ctx, account)
	must(t, err)
	return o
}

func placeIDs(o store.Overview) (ids []string) {
	for _, p := range o.Queue {
		ids = append(ids, p.ID)
	}
	return ids
}

// Whatever the priorities and classes, the queue is shown in the order in which
// its jobs are then leased.
func TestOverview_ShowsTheQueueInTheMatchersOrder(t *testing.T) {
	f := open(t)
	for i := range 20 {
		f.submit(t, func(j *store.NewJob) {
			j.Priority = (i * 7) % 5
			if i%3 == 0 {
				j.Needs.Features = []string{"libx265"}
			}
		})
	}
	for n := 20; n > 0; n-- {
		o := f.overview(t, "")
		if o.Queued != n || len(o.Queue) != min(n, 8) {
			t.Fatalf("%d queued, %d of them shown, want %d", o.Queued, len(o.Queue), n)
		}
		if got := storetest.MustLease(t, f.DB, f.mac).JobID; got != o.Queue[0].ID {
			t.Fatalf("%s was leased, and %v were said to be next", got, placeIDs(o))
		}
	}
}

func TestOverview_NamesWhatRuns(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	half, left := 0.5, 12.0
	_, err := f.Progress(ctx, c, store.Report{Phase: fence.AttemptRunning, Fraction: &half, ETA: &left})
	must(t, err)
	_, err = f.Cancel(ctx, c.JobID)
	must(t, err)
	committing := f.committing(t)
	runs := f.overview(t, "").Runs
	slices.SortFunc(runs, func(a, b store.LiveRun) int { return strings.Compare(a.AttemptID, b.AttemptID) })
	if len(runs) != 2 {
		t.Fatalf("%d runs: %+v", len(runs), runs)
	}
	if r := runs[0]; r.AttemptID != c.AttemptID || r.DeviceID != f.mac.DeviceID || r.Name != "clip.mp4" || r.File != "clip.mov" || r.Files != 1 || r.Preset != "web-720p" ||
		r.Status != fence.AttemptRunning || !r.Cancelling || r.Phase != "running" || *r.Fraction != half || *r.ETA != left {
		t.Errorf("%+v", r)
	}
	if r := runs[1]; r.AttemptID != committing.AttemptID || r.Status != fence.AttemptCommitting || r.Cancelling {
		t.Errorf("%+v", r)
	}
}

func TestOverview_SaysForWhatAJobIsHeld(t *testing.T) {
	f := open(t)
	first := f.submit(t)
	chained := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: first}} })
	read := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{Path: "raid/day 1/camera.mov"}} })
	o := f.overview(t, "")
	if got := placeIDs(o); !slices.Equal(got, []string{first}) || o.Queued != 3 {
		t.Errorf("of %d queued, %v have a place", o.Queued, got)
	}
	if len(o.Held) != 2 || o.Held[0].ID != read || o.Held[0].WaitingOn != nil || o.Held[0].File != "camera.mov" || o.Held[0].Name != "camera.mp4" ||
		o.Held[1].ID != chained || o.Held[1].WaitingOn.ID != first || o.Held[1].WaitingOn.Name != "clip.mp4" {
		t.Errorf("held: %+v", o.Held)
	}
}

func TestOverview_SaysWhoHasTriedAJob(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	_, err := f.Fail(ctx, c, fence.InternalError, "again")
	must(t, err)
	o := f.overview(t, "")
	if len(o.Queue) != 1 || !o.Queue[0].Tried[f.mac.DeviceID].Equal(o.At.Add(storetest.Backoff)) {
		t.Errorf("%+v at %s", o.Queue, o.At)
	}
}

// What failed within the day comes first however much has succeeded since, and
// what ended before it is not there.
func TestOverview_PutsTheFailedApart(t *testing.T) {
	f := open(t)
	f.fail(t, "too old")
	f.clock.Advance(store.Day)
	f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
	for i := range 9 {
		f.fail(t, fmt.Sprint("broken ", i))
		f.clock.Advance(time.Second)
	}
	for range 14 {
		c := f.committing(t)
		_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
		must(t, err)
	}
	o := f.overview(t, "")
	if len(o.Failed) != 8 || !o.FailedMore || o.Failed[0].FailureMessage != "broken 8" || o.Failed[7].FailureMessage != "broken 1" {
		t.Errorf("failed: %+v, more: %v", o.Failed, o.FailedMore)
	}
	if len(o.Ended) != 12 || o.Ended[0].Status != fence.JobSucceeded || o.Ended[0].StartedAt == nil || o.Ended[0].Name != "clip.mp4" {
		t.Errorf("ended: %+v", o.Ended)
	}
}

func (f *fixture) fail(t *testing.T, message string) {
	t.Helper()
	_, err := f.Fail(ctx, f.lease(t), fence.RunnerFailed, message)
	must(t, err)
}

// Another account's runs and places are there for what comes after them, without
// a name; nothing else of it is.
func TestOverview_IsKeptToAnAccount(t *testing.T) {
	f := open(t)
	other := f.withAccount(t, "acc_b")
	theirs := func(change ...func(*store.NewJob)) string {
		return f.submit(t, append(change, func(j *store.NewJob) {
			j.AccountID, j.Inputs = "acc_b", []store.NewInput{{UploadID: other}}
		})...)
	}
	f.fail(t, "ours")
	running := f.lease(t)
	before := f.submit(t)
	own := theirs()
	f.submit(t)
	f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: before}} })
	f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{Path: "raid/a.mov"}} })
	o := f.overview(t, "acc_b")
	if len(o.Runs) != 1 || o.Runs[0].ID != running.JobID || o.Runs[0].Name != "" {
		t.Errorf("runs: %+v", o.Runs)
	}
	if got := placeIDs(o); !slices.Equal(got, []string{before, own}) || o.Queue[0].Name != "" || o.Queue[1].Name != "clip.mp4" {
		t.Errorf("queue: %+v", o.Queue)
	}
	if o.Queued != 1 || len(o.Held) != 0 || len(o.Failed) != 0 || len(o.Ended) != 0 {
		t.Errorf("%d queued, held %+v, ended %+v %+v", o.Queued, o.Held, o.Failed, o.Ended)
	}
}

// withAccount makes another account, and gives an upload of its.
func (f *fixture) withAccount(t *testing.T, id string) string {
	t.Helper()
	db := f.raw(t)
	must(t, exec(db, "INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('"+id+"', '"+id+"', 'whsec_', 1)"))
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	f.mac = storetest.MustHello(t, f.DB, f.mac.DeviceID).Session
	return storetest.MustUpload(t, f.DB, id)
}

// However much there is, what is looked at stands first in an index.
func TestOverview_GoesByIndexes(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	for _, query := range store.OverviewQueries {
		for _, step := range plan(t, db, query, named(query)...) {
			scan := strings.HasPrefix(step, "SCAN jobs") || strings.HasPrefix(step, "SCAN a") || strings.HasPrefix(step, "SCAN j")
			part := strings.Contains(step, "job_attempts_one_live") || strings.Contains(step, "jobs_reading") // both hold live rows only
			sorts := strings.Contains(step, "TEMP B-TREE") && !strings.Contains(query, "GROUP BY") || strings.Contains(step, "AUTOMATIC")
			if scan && !part || sorts {
				t.Errorf("%s: %s", query, step)
			}
		}
	}
}

// named are as many arguments as a query takes.
func named(query string) (args []any) {
	if !strings.Contains(query, "?1") {
		return make([]any, strings.Count(query, "?"))
	}
	for n := 1; strings.Contains(query, fmt.Sprint("?", n)); n++ {
		args = append(args, nil)
	}
	return args
}
