package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

const sharedFile = "media/day1/interview.mov"

func byPath(j *store.NewJob) { j.Inputs = []store.NewInput{{Path: sharedFile}} }

var readFile = store.ReadFile{Bytes: 4, SHA256: fence.HashToken("clip"), Media: json.RawMessage(`{"container":"mov"}`), Stamp: "4 1"}

// read lets a job be leased, as the server does once it has read its files.
func (f *fixture) read(t *testing.T, id string) {
	t.Helper()
	u, err := f.UnreadJob(ctx, id)
	must(t, err)
	files := map[int]store.ReadFile{}
	for i, in := range u.Inputs {
		if in.Path != "" {
			files[i] = readFile
		}
	}
	done, err := f.Read(ctx, u, files, u.Needs)
	if must(t, err); !done {
		t.Fatalf("%s could not be read", id)
	}
}

func (f *fixture) isIdle(t *testing.T) {
	t.Helper()
	if out, err := f.Lease(ctx, f.mac, 1); err != nil || out.Offer != nil || !out.Idle {
		t.Fatalf("leased too early: %+v, %v", out, err)
	}
}

func TestReading_NobodyLeasesWhatIsNotRead(t *testing.T) {
	f := open(t)
	id := f.submit(t, byPath)
	j := storetest.MustStatus(t, f.DB, id, fence.JobQueued, "")
	if j.Reading != 1 || j.OutputName != "interview.mp4" || j.Inputs[0].Path != sharedFile || j.Inputs[0].SHA256 != "" {
		t.Fatalf("job %+v", j)
	}
	f.isIdle(t)
	f.read(t, id)
	if j := storetest.MustStatus(t, f.DB, id, fence.JobQueued, ""); j.Reading != 0 {
		t.Fatalf("reading %d", j.Reading)
	}
	o := storetest.MustLease(t, f.DB, f.mac)
	if in := o.Inputs[0]; o.JobID != id || in.Path != sharedFile || in.Name != "interview.mov" || in.Bytes != 4 || in.SHA256 != readFile.SHA256 || in.Key != "" || string(in.Media) != string(readFile.Media) {
		t.Fatalf("offer %+v", o)
	}
	if got := f.ask(t, `SELECT type FROM events WHERE job_id = '`+id+`' ORDER BY id`); strings.Join(got, " ") != "job.queued job.read attempt.leased" {
		t.Errorf("events %q", got)
	}
}

// What a device must have is settled with the reading: here, tone-mapping.
func TestReading_SettlesTheNeeds(t *testing.T) {
	f := open(t)
	id := f.submit(t, byPath)
	u, err := f.UnreadJob(ctx, id)
	must(t, err)
	needs := u.Needs
	needs.Features = []string{"zscale"}
	_, err = f.Read(ctx, u, map[int]store.ReadFile{0: readFile}, needs)
	must(t, err)
	if out, err := f.Lease(ctx, f.mac, 1); err != nil || out.Offer != nil {
		t.Fatalf("a Mac without zscale got it: %+v, %v", out, err)
	}
	again, err := f.Read(ctx, u, map[int]store.ReadFile{0: readFile}, u.Needs)
	if must(t, err); again {
		t.Fatal("it was read twice")
	}
}

// A chain waits for both: the other job, and the file.
func TestReading_BesideAJobThatItWaitsFor(t *testing.T) {
	for _, readFirst := range []bool{true, false} {
		f := open(t)
		first := f.submit(t)
		id := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: first}, {Path: sharedFile}} })
		if readFirst {
			f.read(t, id)
		}
		c := f.commits(t, storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac)))
		f.isIdle(t)
		_, err := f.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", nil)
		must(t, err)
		if !readFirst {
			f.isIdle(t)
			f.read(t, id)
		}
		if o := storetest.MustLease(t, f.DB, f.mac); o.JobID != id || o.Inputs[0].Key == "" || o.Inputs[1].SHA256 == "" {
			t.Fatalf("read first %v: %+v", readFirst, o)
		}
	}
}

// A file that is not to be had ends the job as every end does (F11), and takes
// with it what waits for its output.
func TestReading_AFaultEndsTheJobAndItsDependents(t *testing.T) {
	f := open(t)
	id := f.submit(t, byPath, func(j *store.NewJob) { j.Credits = 5 })
	next := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: id}, {Path: sharedFile}} })
	done, err := f.FailReading(ctx, id, "it is not there")
	if must(t, err); !done {
		t.Fatal("it was not failed")
	}
	j := storetest.MustStatus(t, f.DB, id, fence.JobFailed, "")
	if *j.FailureCode != fence.InputFailed || *j.FailureMessage != "it is not there" || j.Hold.State != "released" {
		t.Fatalf("job %+v", j)
	}
	storetest.MustStatus(t, f.DB, next, fence.JobFailed, "")
	for _, ended := range []string{id, next} {
		if u, err := f.UnreadJob(ctx, ended); u != nil || err != nil {
			t.Errorf("%s is to be read: %+v, %v", ended, u, err)
		}
		if done, err := f.FailReading(ctx, ended, "again"); done || err != nil {
			t.Errorf("%s failed twice: %v", ended, err)
		}
	}
}

// A cancel, or the admission deadline, wins over a reading that ends later.
func TestReading_AnEndMeanwhileStands(t *testing.T) {
	f := open(t)
	cancelled := f.submit(t, byPath)
	late := f.submit(t, byPath, func(j *store.NewJob) { j.Deadline = f.clock.Now().Add(time.Minute) })
	var read []*store.Unread
	for _, id := range []string{cancelled, late} {
		u, err := f.UnreadJob(ctx, id)
		must(t, err)
		read = append(read, u)
	}
	_, err := f.Cancel(ctx, cancelled)
	must(t, err)
	f.clock.Advance(time.Minute)
	_, err = f.Sweep(ctx)
	must(t, err)
	for _, u := range read {
		if done, err := f.Read(ctx, u, map[int]store.ReadFile{0: readFile}, u.Needs); done || err != nil {
			t.Errorf("%s was read: %v", u.JobID, err)
		}
	}
	storetest.MustStatus(t, f.DB, cancelled, fence.JobCancelled, "")
	if j := storetest.MustStatus(t, f.DB, late, fence.JobFailed, ""); *j.FailureCode != fence.NoCapacity {
		t.Errorf("late: %s", *j.FailureCode)
	}
}

// Ten jobs on one file read it once, as long as nobody touches it.
func TestReading_AFileIsKnownByItsStamp(t *testing.T) {
	f := open(t)
	id := f.submit(t, byPath)
	for _, at := range []string{"4 1", ""} {
		if known, err := f.KnownFile(ctx, sharedFile, at); known != nil || err != nil {
			t.Fatalf("known before it was read: %+v, %v", known, err)
		}
	}
	f.read(t, id)
	known, err := f.KnownFile(ctx, sharedFile, "4 1")
	must(t, err)
	if fmt.Sprint(*known) != fmt.Sprint(readFile) {
		t.Fatalf("known as %+v", known)
	}
	for path, stamp := range map[string]string{sharedFile: "4 2", "other/day1/interview.mov": "4 1"} {
		if known, err := f.KnownFile(ctx, path, stamp); known != nil || err != nil {
			t.Errorf("%s, stamp %q: %+v, %v", path, stamp, known, err)
		}
	}
}

// What a start takes up are the jobs that are still to be read, and no others.
func TestReading_AStartTakesUpTheRest(t *testing.T) {
	f := open(t)
	unread, read, gone := f.submit(t, byPath), f.submit(t, byPath), f.submit(t, byPath)
	f.submit(t)
	f.read(t, read)
	_, err := f.Cancel(ctx, gone)
	must(t, err)
	f.reopen(t, time.Hour)
	got, err := f.Reading(ctx)
	must(t, err)
	if len(got) != 1 || got[unread] != sharedFile {
		t.Fatalf("taken up: %v", got)
	}
}
