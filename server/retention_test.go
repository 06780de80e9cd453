package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
	"rendermac/store/storetest"
)

const testDay = 24 * time.Hour

// stock is a server with files of many ages, and what a test knows of them.
type stock struct {
	*httpServer
	keep    Retention
	random  *rand.Rand
	uploads []*stocked
	jobs    []*stocked // whose outputs, once they have succeeded
}

// stocked is an upload, or a job and its output.
type stocked struct {
	id, key  string
	at       time.Time // complete, or made
	bytes    int64
	there    bool
	complete bool
	inputs   []string
}

// A random history of uploads, jobs and chains, with retention at random
// moments: no live job ever misses an input, whatever was to go is gone, and both
// reports say so.
func TestRetention_RandomHistories(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 5))
			keep := Retention{Uploads: 7 * testDay, Outputs: 5 * testDay}
			if seed%2 == 1 {
				keep.UploadsMaxBytes, keep.OutputsMaxBytes = 400, 300
			}
			if seed%3 == 2 {
				keep.Outputs = 0
			}
			s := &stock{httpServer: mustServe(t, func(o *Options) { o.Retention = keep }), keep: keep, random: random}
			for range 60 {
				s.step()
			}
			s.collect()
		})
	}
}

func (s *stock) step() {
	s.Helper()
	switch n := s.random.IntN(20); {
	case n < 4:
		content := make([]byte, 1+s.random.IntN(100))
		done := s.mustUpload(s.submit, "a.mov", content)
		s.uploads = append(s.uploads, &stocked{id: done.ID, key: "uploads/" + done.ID + "/original", at: s.clock.Now(), bytes: done.Bytes, there: true, complete: true})
	case n < 5:
		u := into[api.UploadCreated](s.post("/v1/uploads", s.submit, api.UploadRequest{Name: "open.mov", Bytes: 50}).is(201))
		s.uploads = append(s.uploads, &stocked{id: u.ID, at: s.clock.Now(), bytes: 50, there: true})
	case n < 10:
		s.submitSome()
	case n < 13:
		if live := s.live(func(j store.Job) bool { return j.Status == "queued" && j.WaitingOn == nil }); len(live) > 0 {
			s.mustSucceed(make([]byte, 1+s.random.IntN(100)))
			s.published()
		}
	case n < 14:
		if live := s.live(func(store.Job) bool { return true }); len(live) > 0 {
			s.post("/v1/jobs/"+live[s.random.IntN(len(live))].ID+"/cancel", s.submit, nil).is(202)
		}
	case n < 18:
		s.clock.Advance(time.Duration(s.random.Int64N(int64(2 * testDay))))
	default:
		s.collect()
	}
}

// live are the jobs that have not ended.
func (s *stock) live(is func(store.Job) bool) (live []store.Job) {
	s.Helper()
	for _, j := range s.jobs {
		job := s.job(j.id)
		if !job.Status.Terminal() && is(job) {
			live = append(live, job)
		}
	}
	return live
}

func (s *stock) job(id string) store.Job {
	s.Helper()
	j, err := s.db.JobByID(context.Background(), id)
	if err != nil {
		s.Fatal(err)
	}
	return j
}

// submitSome names one or two inputs, there or not.
func (s *stock) submitSome() {
	s.Helper()
	all := slices.Concat(s.uploads, s.jobs)
	if len(all) == 0 {
		return
	}
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(`{"preset":"web-720p"}`)}
	in, bad := all[s.random.IntN(len(all))], false
	if strings.HasPrefix(in.id, "upl_") {
		r.Inputs, bad = []api.Input{{UploadID: &in.id}}, !in.there || !in.complete
	} else {
		status := s.job(in.id).Status
		r.Inputs, bad = []api.Input{{JobID: &in.id}}, status == "failed" || status == "cancelled" || status == "succeeded" && !in.there
	}
	answer := s.post("/v1/jobs", s.submit, r)
	if bad {
		answer.refuses(422, api.CodeInvalid)
		return
	}
	j := into[api.Job](answer.is(201))
	s.jobs = append(s.jobs, &stocked{id: j.ID, inputs: []string{in.id}})
}

// published notes the outputs that have come.
func (s *stock) published() {
	s.Helper()
	for _, j := range s.jobs {
		if job := s.job(j.id); job.Artifact != nil && j.key == "" {
			j.key, j.at, j.bytes, j.there, j.complete = job.Artifact.Key, *job.FinishedAt, job.Artifact.Bytes, true, true
		}
	}
}

// collect asks for a dry run, then for the real one, and looks at what is left.
func (s *stock) collect() {
	s.Helper()
	want := s.expected()
	before := s.bytesOnDisk()
	dry := into[api.GC](s.post("/v1/gc", s.admin, `{"dry_run":true}`).is(200))
	if after := s.bytesOnDisk(); !reflect.DeepEqual(before, after) {
		s.Fatal("a dry run has changed a file")
	}
	real := into[api.GC](s.post("/v1/gc", s.admin, `{}`).is(200))
	want.DryRun = true
	if dry != want {
		s.Errorf("a dry run says %+v, want %+v", dry, want)
	}
	want.DryRun = false
	if real != want {
		s.Errorf("removed %+v, want %+v", real, want)
	}
	s.isThere()
}

// expected is what is to go, worked out from scratch, and notes it as gone.
func (s *stock) expected() (want api.GC) {
	var complete, open []*stocked
	for _, u := range s.uploads {
		if u.complete {
			complete = append(complete, u)
		} else {
			open = append(open, u)
		}
	}
	want.Outputs = s.expire(s.jobs, s.keep.Outputs, s.keep.OutputsMaxBytes)
	want.Uploads = s.expire(complete, s.keep.Uploads, s.keep.UploadsMaxBytes)
	want.OpenUploads = s.expire(open, s.keep.Uploads, 0)
	return want
}

func (s *stock) expire(files []*stocked, keep time.Duration, limit int64) (freed api.Freed) {
	files = slices.DeleteFunc(slices.Clone(files), func(f *stocked) bool { return !f.there })
	slices.SortFunc(files, func(a, b *stocked) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
	var total int64
	for _, f := range files {
		total += f.bytes
	}
	drop := func(f *stocked) {
		f.there, total = false, total-f.bytes
		freed.Count, freed.Bytes = freed.Count+1, freed.Bytes+f.bytes
	}
	for _, f := range files {
		live, last := s.use(f)
		if old := s.clock.Now().Add(-keep); keep > 0 && !live && f.at.Before(old) && last.Before(old) {
			drop(f)
		}
	}
	for _, f := range files {
		if live, _ := s.use(f); f.there && !live && limit > 0 && total > limit {
			drop(f)
		}
	}
	return freed
}

// use says whether a live job has a file as an input, and when the last one that
// had it ended.
func (s *stock) use(f *stocked) (live bool, last time.Time) {
	for _, j := range s.jobs {
		if !slices.Contains(j.inputs, f.id) {
			continue
		}
		job := s.job(j.id)
		if job.FinishedAt == nil {
			live = true
		} else if job.FinishedAt.After(last) {
			last = *job.FinishedAt
		}
	}
	return live, last
}

// isThere holds the store, the API and each live job against what should be.
func (s *stock) isThere() {
	s.Helper()
	want := map[string]bool{}
	for _, f := range slices.Concat(s.uploads, s.jobs) {
		if f.key != "" && f.there {
			want[f.key] = true
		}
	}
	for _, f := range s.uploads {
		if status := s.get("/v1/uploads/"+f.id, s.submit).StatusCode; status != map[bool]int{true: 200, false: 404}[f.there] {
			s.Errorf("upload %s is there: %v, and is answered %d", f.id, f.there, status)
		}
	}
	for _, j := range s.jobs {
		job := s.job(j.id)
		if job.Artifact != nil && (job.Artifact.DeletedAt == nil) != j.there {
			s.Errorf("output of %s is there: %v, and its job says %v", j.id, j.there, job.Artifact.DeletedAt)
		}
		for _, in := range job.Inputs {
			if job.FinishedAt == nil && in.Key != "" && !want[in.Key] {
				s.Errorf("live job %s misses %s", j.id, in.Key)
			}
		}
	}
	objects := filepath.Join(s.dir, "artifacts", "objects")
	_ = filepath.WalkDir(objects, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, _ := filepath.Rel(objects, path)
		if !want[key] {
			s.Errorf("%s is still there", key)
		}
		delete(want, key)
		return nil
	})
	for key := range want {
		s.Errorf("%s is gone", key)
	}
	if owed := s.owed(); len(owed) > 0 {
		s.Errorf("still to be removed: %v", owed)
	}
	open, err := s.files.Pending(context.Background())
	if err != nil {
		s.Fatal(err)
	}
	for _, key := range open {
		if !slices.ContainsFunc(s.uploads, func(u *stocked) bool { return u.there && !u.complete && key == "uploads/"+u.id+"/original" }) {
			s.Errorf("the write of %s is still open", key)
		}
	}
}

// bytesOnDisk is every file of the data directory, whole.
func (h *httpServer) bytesOnDisk() map[string]string {
	h.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") { // readers note themselves there
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return files
}

// What a client hears of what has gone.
func TestRetention_WhatIsGoneIsSaidSo(t *testing.T) {
	h := mustServe(t, func(o *Options) {
		o.Retention = Retention{Outputs: testDay, Uploads: testDay, Events: testDay, Logs: testDay}
	})
	j := h.mustSubmit(h.submit)
	h.mustSucceed([]byte("film"))
	output := h.get("/v1/jobs/"+j.ID+"/output", h.read).is(302).Header.Get("Location")
	h.clock.Advance(2 * testDay)
	report := into[api.GC](h.post("/v1/gc", h.admin, `{}`).is(200))
	if report.Outputs != (api.Freed{Count: 1, Bytes: 4}) || report.Uploads != (api.Freed{Count: 1, Bytes: 4}) || report.Logs != 1 || report.Events == 0 {
		t.Errorf("removed %+v", report)
	}
	if p := h.get("/v1/jobs/"+j.ID+"/output", h.read).refuses(410, api.CodeOutputDeleted); !strings.Contains(p.Detail, "on 2026-12-03: retry the job to make it again, if its inputs are still there.") {
		t.Errorf("says %q", p.Detail)
	}
	h.get(output, "").refuses(403, api.CodeBadSignature) // an hour has passed
	job := into[api.Job](h.get("/v1/jobs/"+j.ID, h.read).is(200))
	if a := job.Artifact; a == nil || a.DeletedAt == nil || !a.DeletedAt.Equal(h.clock.Now()) || a.Bytes != 4 || a.SHA256 != sum([]byte("film")) {
		t.Errorf("the artifact is %+v", job.Artifact)
	}
	upload := *job.Inputs[0].UploadID
	h.get("/v1/uploads/"+upload, h.submit).refuses(404, api.CodeNotFound)
	h.post("/v1/uploads/"+upload+"/complete", h.submit, nil).refuses(404, api.CodeNotFound)
	for _, ask := range []struct{ path, body, at string }{
		{"/v1/jobs", `{"service":"ffmpeg.transcode","inputs":[{"upload_id":"` + upload + `"}]}`, "inputs[0].upload_id"},
		{"/v1/jobs", `{"service":"ffmpeg.transcode","inputs":[{"job_id":"` + j.ID + `"}]}`, "inputs[0].job_id"},
		{"/v1/jobs/" + j.ID + "/retry", `{}`, "inputs[0].upload_id"},
	} {
		p := h.post(ask.path, h.submit, ask.body).refuses(422, api.CodeInvalid)
		if len(p.Errors) != 1 || p.Errors[0].Location != ask.at || !strings.Contains(p.Errors[0].Message, "deleted by retention") {
			t.Errorf("%s: %+v", ask.path, p.Errors)
		}
	}
	if log := h.get("/v1/jobs/"+j.ID+"/attempts/1/log", h.read).is(200); len(log.body) > 0 {
		t.Errorf("the log is %q", log.body)
	}
}

// awayStore is a store that cannot be reached.
type awayStore struct {
	artifact.Store
	err error
}

func (a *awayStore) Check(context.Context) error { return a.err }

// A store that is away puts retention off; a full one is emptied.
func TestRetention_AStoreThatIsAwayPutsItOff(t *testing.T) {
	away := &awayStore{err: errors.New("the store cannot be reached")}
	h := mustServe(t, func(o *Options) {
		away.Store, o.Artifacts = o.Artifacts, away
		o.Retention.Uploads = testDay
	})
	h.mustUpload(h.submit, "a.mov", []byte("clip"))
	h.clock.Advance(2 * testDay)
	h.srv.retention.runOnce(context.Background())
	if n, err := h.db.StoredBytes(context.Background(), store.Uploads); err != nil || n != 4 {
		t.Errorf("%d bytes are kept (%v)", n, err)
	}
	if !strings.Contains(h.log.String(), "within the hour") {
		t.Errorf("the log says %s", h.log)
	}
	away.err = &artifact.FullError{Need: 1}
	if report := into[api.GC](h.post("/v1/gc", h.admin, `{}`).is(200)); report.Uploads.Bytes != 4 {
		t.Errorf("of a full store went %+v", report)
	}
}

// A crash between a note and the removal of the bytes is made up for.
func TestRetention_WhatACrashHasLeftGoesNextTime(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Retention.Uploads = testDay })
	u := h.mustUpload(h.submit, "a.mov", []byte("clip"))
	h.clock.Advance(2 * testDay)
	page, _, err := h.db.OldFiles(context.Background(), store.Uploads, h.clock.Now(), store.OldFile{})
	if err != nil {
		t.Fatal(err)
	}
	gone, err := h.db.RemoveFiles(context.Background(), store.Uploads, page)
	if err != nil || len(gone) != 1 || len(h.owed()) != 1 {
		t.Fatalf("noted %v, owed %v (%v)", gone, h.owed(), err)
	}
	if err := h.files.Begin(context.Background(), "uploads/upl_nobody/original", 4, 4); err != nil { // a request that was at it
		t.Fatal(err)
	}
	h.post("/v1/gc", h.admin, `{}`).is(200)
	if _, _, err := h.files.Open(context.Background(), "uploads/"+u.ID+"/original"); !errors.Is(err, artifact.ErrNotFound) || len(h.owed()) > 0 {
		t.Errorf("the bytes are still there: %v; owed %v", err, h.owed())
	}
	if open, err := h.files.Pending(context.Background()); err != nil || len(open) > 0 {
		t.Errorf("open writes: %v (%v)", open, err)
	}
}

// A stream that comes back from before the horizon is told to begin anew; a live
// job's own history is still whole.
func TestRetention_StreamsAreTold(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Retention.Events = testDay })
	live := h.mustSubmit(h.submit)
	ended := h.mustSubmit(h.submit)
	h.post("/v1/jobs/"+ended.ID+"/cancel", h.submit, nil).is(202)
	h.clock.Advance(2 * testDay)
	storetest.MustSubmit(h, h.db, storetest.Job(h.account, storetest.MustUpload(h, h.db, h.account)))
	h.post("/v1/gc", h.admin, `{}`).is(200)
	horizon, _, err := h.db.EventIDs(context.Background())
	if err != nil || horizon < 3 {
		t.Fatalf("the horizon is %d (%v)", horizon, err)
	}
	if n := len(into[api.List[api.Event]](h.get("/v1/jobs/"+ended.ID+"/events", h.read).is(200)).Items); n != 0 {
		t.Errorf("the ended job has %d events", n)
	}
	if n := len(into[api.List[api.Event]](h.get("/v1/jobs/"+live.ID+"/events", h.read).is(200)).Items); n != 1 {
		t.Errorf("the live job has %d events", n)
	}
	st, err := h.srv.openStream(context.Background(), call{}, store.EventFilter{}, "1")
	if err != nil || !strings.Contains(string(st.opening), "event: "+api.EventReset) {
		t.Errorf("a stream from event 1 begins with %q (%v)", st.opening, err)
	}
}

// Two at once follow one another, and each says what it has removed itself.
func TestRetention_TwoAtOnce(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Retention.Uploads = testDay })
	for range 20 {
		h.mustUpload(h.submit, "a.mov", []byte("clip"))
	}
	h.clock.Advance(2 * testDay)
	reports := make(chan api.GC)
	for range 4 {
		go func() {
			report, err := h.srv.retention.collect(context.Background())
			if err != nil {
				t.Error(err)
			}
			reports <- report
		}()
	}
	var all int64
	for range 4 {
		all += (<-reports).Uploads.Count
	}
	if all != 20 {
		t.Errorf("%d were removed, of 20", all)
	}
}
