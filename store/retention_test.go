package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// However much there is, retention looks at what stands first in an index, and
// at one file's own jobs.
func TestRetentionGoesByIndexes(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	for _, query := range store.RetentionQueries() {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+query, make([]any, 4)...)
		must(t, err)
		for rows.Next() {
			var id, parent, unused int
			var step string
			must(t, rows.Scan(&id, &parent, &unused, &step))
			scan := strings.HasPrefix(step, "SCAN ") && !strings.Contains(step, "json_each") && !strings.Contains(step, "USING COVERING INDEX")
			if scan || strings.Contains(step, "TEMP B-TREE") || strings.Contains(step, "AUTOMATIC") {
				t.Errorf("%s: %s", query, step)
			}
		}
		must(t, rows.Err())
	}
}

// oldFiles are the ids of a kind's files that nobody has needed since a moment.
func (f *fixture) oldFiles(t *testing.T, kind store.FileKind, since time.Time) (free []store.OldFile) {
	t.Helper()
	var last store.OldFile
	for more := true; more; {
		var page []store.OldFile
		var err error
		page, more, err = f.OldFiles(ctx, kind, since, last)
		must(t, err)
		for _, file := range page {
			needed, err := f.Needed(ctx, kind, &file, since)
			must(t, err)
			if !needed {
				free = append(free, file)
			}
			last = file
		}
	}
	return free
}

func (f *fixture) succeeds(t *testing.T, c fence.Claim) {
	t.Helper()
	_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
}

// Whoever submits between the look and the removal keeps what he names; whoever
// comes later is told.
func TestRetention_AJobThatComesMeanwhileKeepsItsInput(t *testing.T) {
	f := open(t)
	first := f.committing(t)
	f.succeeds(t, first)
	f.clock.Advance(time.Hour)
	now := f.clock.Now()
	for _, of := range []struct {
		kind store.FileKind
		in   store.NewInput
		at   string
		says string
	}{
		{store.Uploads, store.NewInput{UploadID: f.upload}, "inputs[0].upload_id", "upload the file again"},
		{store.Outputs, store.NewInput{JobID: first.JobID}, "inputs[0].job_id", "run that job again"},
	} {
		found := f.oldFiles(t, of.kind, now)
		if len(found) != 1 {
			t.Fatalf("found %+v", found)
		}
		job := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{of.in} })
		gone, err := f.RemoveFiles(ctx, of.kind, found)
		if err != nil || len(gone) > 0 {
			t.Errorf("a live job has lost %+v (%v)", gone, err)
		}
		_, err = f.Cancel(ctx, job)
		must(t, err)
		f.clock.Advance(time.Hour)
		gone, err = f.RemoveFiles(ctx, of.kind, f.oldFiles(t, of.kind, f.clock.Now()))
		if err != nil || len(gone) != 1 || gone[0].Bytes != 4 {
			t.Errorf("removed %+v (%v)", gone, err)
		}
		if owed, err := f.Discards(ctx, "", 10); err != nil || !slices.Contains(owed, gone[0].Key) {
			t.Errorf("the store is not told of %s: %v (%v)", gone[0].Key, owed, err)
		}
		again := storetest.Job(f.account, "")
		again.Inputs = []store.NewInput{of.in}
		_, err = f.Submit(ctx, again)
		if fault := faultOf(t, err); fault.Location != of.at || !strings.Contains(fault.Message, "deleted by retention") || !strings.Contains(fault.Message, of.says) {
			t.Errorf("submitted with what is gone: %+v", fault)
		}
		if twice, err := f.RemoveFiles(ctx, of.kind, found); err != nil || len(twice) > 0 {
			t.Errorf("removed twice: %+v (%v)", twice, err)
		}
	}
	if _, err := f.UploadByID(ctx, f.upload); fence.CodeOf(err) != fence.CodeNotFound {
		t.Errorf("the deleted upload: %v", err)
	}
	if j, err := f.JobByID(ctx, first.JobID); err != nil || j.Artifact.DeletedAt == nil || j.Artifact.Bytes != 4 {
		t.Errorf("the job of the deleted output: %+v (%v)", j.Artifact, err)
	}
}

func faultOf(t *testing.T, err error) fence.Fault {
	t.Helper()
	e, is := err.(*fence.Error)
	if !is || len(e.Faults) != 1 {
		t.Fatalf("refused with %v", err)
	}
	return e.Faults[0]
}

// A file of many jobs is looked at a stretch at a time, down to the oldest.
func TestRetention_TheOldestOfManyJobsIsFound(t *testing.T) {
	f := open(t)
	oldest := f.submit(t)
	batch := make([]store.NewJob, 500)
	for i := range batch {
		batch[i] = storetest.Job(f.account, f.upload)
	}
	for range 5 {
		_, err := f.Submit(ctx, batch...)
		must(t, err)
	}
	db := f.raw(t)
	must(t, exec(db, `UPDATE jobs SET status = 'cancelled', finished_at = 1 WHERE id > '`+oldest+`'`))
	must(t, db.Close())
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	f.clock.Advance(time.Hour)
	if free := f.oldFiles(t, store.Uploads, f.clock.Now()); len(free) > 0 {
		t.Errorf("a job at the end of 2500 needs it: %+v", free)
	}
	_, err := f.Cancel(ctx, oldest)
	must(t, err)
	f.clock.Advance(time.Hour)
	if free := f.oldFiles(t, store.Uploads, f.clock.Now()); len(free) != 1 {
		t.Errorf("nobody needs it: %+v", free)
	}
}

// An upload that is deleted while its completion hashes it is not found any more.
func TestRetention_ADeletedUploadIsNotCompleted(t *testing.T) {
	f := open(t)
	u, err := f.CreateUpload(ctx, store.NewUpload{AccountID: f.account, Name: "a.mov", Bytes: 9, PartBytes: 8, Parts: []store.Part{{Number: 1, Bytes: 8, SHA256: "x"}}})
	must(t, err)
	f.clock.Advance(time.Hour)
	gone, err := f.RemoveFiles(ctx, store.OpenUploads, f.oldFiles(t, store.OpenUploads, f.clock.Now()))
	if err != nil || len(gone) != 1 || gone[0].Key != u.Key {
		t.Fatalf("removed %+v (%v)", gone, err)
	}
	if _, err := f.CompleteUpload(ctx, u.ID, "x", nil); fence.CodeOf(err) != fence.CodeNotFound {
		t.Errorf("completed: %v", err)
	}
	if wanted, err := f.WantsWrite(ctx, u.Key); err != nil || wanted {
		t.Errorf("its write is wanted: %v (%v)", wanted, err)
	}
	if left := f.ask(t, `SELECT number FROM upload_parts`); len(left) > 0 {
		t.Errorf("parts %v", left)
	}
}

// removeRows goes through rows as the server does.
func (f *fixture) removeRows(t *testing.T, kind store.RowKind, before time.Time) (removed int64) {
	t.Helper()
	for page := (store.OldRows{}); page.More(); {
		var err error
		page, err = f.NextOldRows(ctx, kind, before, page)
		must(t, err)
		n, err := f.RemoveRows(ctx, kind, page)
		must(t, err)
		removed += n
	}
	return removed
}

// Old events go, but for a live job's, whose history stays whole, and the newest,
// whose id is never given twice.
func TestRetention_EventsOfALiveJobStay(t *testing.T) {
	f := open(t)
	live := f.submit(t)
	for range 250 { // several pages
		job := f.submit(t)
		_, err := f.Cancel(ctx, job)
		must(t, err)
	}
	f.clock.Advance(time.Hour)
	young := f.submit(t)
	newest := f.ask(t, `SELECT max(id) FROM events`)[0]
	all := len(f.ask(t, `SELECT id FROM events`))
	if removed := f.removeRows(t, store.Events, f.clock.Now()); removed != int64(all-2) {
		t.Errorf("removed %d of %d, want all but two", removed, all)
	}
	if left := f.ask(t, `SELECT job_id FROM events ORDER BY id`); !slices.Equal(left, []string{live, young}) {
		t.Errorf("left are those of %q, want of %s and %s", left, live, young)
	}
	if horizon, _, err := f.EventIDs(ctx); err != nil || horizon < 500 || horizon > 510 {
		t.Errorf("the horizon is %d (%v)", horizon, err)
	}
	_, err := f.Cancel(ctx, live)
	must(t, err)
	_, err = f.Cancel(ctx, young)
	must(t, err)
	f.clock.Advance(time.Hour)
	if removed := f.removeRows(t, store.Events, f.clock.Now()); removed != 3 {
		t.Errorf("then %d, want all but the newest", removed)
	}
	if left := f.ask(t, `SELECT id FROM events`); len(left) != 1 || left[0] <= newest {
		t.Errorf("left %v", left)
	}
	if f.removeRows(t, store.Events, f.clock.Now().Add(time.Hour)) != 0 {
		t.Error("the newest event went")
	}
}

// Logs go by their run's end, deliveries once they are over.
func TestRetention_LogsAndDeliveriesOfWhatIsOver(t *testing.T) {
	f := open(t)
	told := func(j *store.NewJob) {
		j.WebhookURL, j.WebhookEvents = "https://example.test/hook", []string{"job.cancelled"}
	}
	ended, running := f.lease(t), f.lease(t)
	for _, c := range []fence.Claim{ended, running} {
		must(t, f.AppendLog(ctx, c, "frame=1\n"))
	}
	var ids []string
	for range 2 {
		_, err := f.Cancel(ctx, f.submit(t, told))
		must(t, err)
		list, err := f.Deliveries(ctx, store.DeliveryFilter{State: "pending", Limit: 1})
		must(t, err)
		ids = append(ids, list[0].ID)
	}
	f.tried(t, store.Tried{ID: ids[0], Status: 204})
	_, err := f.Fail(ctx, ended, fence.RunnerFailed, "")
	must(t, err)
	before := f.clock.Now()
	if n := f.removeRows(t, store.Logs, before) + f.removeRows(t, store.Deliveries, before); n > 0 {
		t.Errorf("%d went at once", n)
	}
	f.clock.Advance(time.Second)
	if n := f.removeRows(t, store.Logs, f.clock.Now()); n != 1 {
		t.Errorf("%d logs went", n)
	}
	if n := f.removeRows(t, store.Deliveries, f.clock.Now()); n != 1 {
		t.Errorf("%d deliveries went", n)
	}
	if left := f.ask(t, `SELECT attempt_id FROM attempt_logs UNION ALL SELECT id FROM webhook_deliveries`); !slices.Equal(left, []string{running.AttemptID, ids[1]}) {
		t.Errorf("left %v, want %s and %s", left, running.AttemptID, ids[1])
	}
}

// Rows that a clock which was ahead has left hide nothing behind them.
func TestRetention_RowsOfAClockThatWasAhead(t *testing.T) {
	f := open(t)
	f.clock.Jump(1000 * time.Hour)
	for range 5 {
		f.submit(t)
	}
	f.clock.Jump(-1000 * time.Hour)
	_, err := f.Cancel(ctx, f.submit(t))
	must(t, err)
	f.clock.Advance(time.Hour)
	f.submit(t)
	if n := f.removeRows(t, store.Events, f.clock.Now()); n < 2 {
		t.Errorf("%d events went", n)
	}
}

// A clock that was set ahead is watched for a day before anything goes by it.
func TestRetention_AClockThatLeapsIsWatched(t *testing.T) {
	f := open(t)
	is := func(want bool, when string) {
		t.Helper()
		if got, err := f.ClockSettled(ctx); err != nil || got != want {
			t.Errorf("%s: settled is %v (%v)", when, got, err)
		}
	}
	is(true, "at first")
	f.clock.Advance(time.Hour)
	is(true, "an hour later")
	f.clock.Jump(24 * 365 * time.Hour)
	is(false, "a year ahead")
	f.clock.Advance(20 * time.Hour)
	is(false, "20 h later")
	f.clock.Jump(24 * 365 * time.Hour)
	is(false, "another year ahead")
	f.reopen(t, 5*time.Hour)
	is(false, "after a restart")
	f.clock.Jump(-2 * 24 * 365 * time.Hour)
	is(true, "set right")
	f.reopen(t, 7*24*time.Hour)
	is(false, "after a week of absence")
	f.clock.Advance(12 * time.Hour)
	is(false, "half a day later")
	f.clock.Advance(12 * time.Hour)
	is(true, "a day later")
}

// An upgrade is an absence as well: nothing goes in its first day.
func TestRetention_AnUpgradeRemovesNothingForADay(t *testing.T) {
	f := open(t)
	f.submit(t)
	f.clock.Advance(49 * time.Hour)
	if settled, err := f.ClockSettled(ctx); err != nil || settled {
		t.Errorf("settled is %v (%v)", settled, err)
	}
}
