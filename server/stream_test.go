package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"rendermac/api"
	"rendermac/store"
	"rendermac/store/storetest"
)

// Sixteen writers submit and cancel while readers lose their connections at
// random points: each reader has heard every event of its own, once, in order.
func TestEvents_AReaderThatIsCutOffMissesNothing(t *testing.T) {
	random := seeded(t)
	for name, kept := range map[string]int{"in memory": feedKept, "from the database": 5} {
		t.Run(name, func(t *testing.T) {
			h := mustServe(t)
			h.srv.feed.kept = kept
			h.mustStart()
			upload := h.mustUpload(h.submit, "clip.mov", []byte("clip")).ID
			theirs := h.mustUpload(h.otherAccountSubmit, "clip.mov", []byte("clip")).ID
			start := strconv.FormatInt(h.newestEvent(), 10)
			readers := []struct {
				path, key string
				of        store.EventFilter
			}{
				{"/v1/events", h.admin, store.EventFilter{}},
				{"/v1/events", h.read, store.EventFilter{AccountID: h.account}},
				{"/v1/events", h.otherAccountSubmit, store.EventFilter{AccountID: h.otherAccount}},
			}
			heard, last := make([][]int64, len(readers)), make([]chan int64, len(readers))
			var reading, writing sync.WaitGroup
			for i, r := range readers {
				last[i] = make(chan int64, 1)
				mine := rand.New(rand.NewPCG(random.Uint64(), 1))
				reading.Go(func() { heard[i] = h.cut(mine, r.path, r.key, start, last[i]) })
			}
			for i := range 16 {
				key, up := h.submit, upload
				if i%2 == 0 {
					key, up = h.otherAccountSubmit, theirs
				}
				writing.Go(func() {
					for range 8 {
						j := into[api.Job](h.post("/v1/jobs", key, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &up}}}).is(201))
						h.post("/v1/jobs/"+j.ID+"/cancel", key, nil).is(202)
					}
				})
			}
			writing.Wait()
			for i := range readers {
				last[i] <- h.newestEvent() + 1
			}
			h.mustSubmit(h.submit)
			h.mustSubmit(h.otherAccountSubmit)
			reading.Wait()
			from, _ := strconv.ParseInt(start, 10, 64)
			for i, r := range readers {
				want := slices.DeleteFunc(h.history(r.of), func(id int64) bool { return id <= from })
				if n := len(heard[i]); !slices.Equal(heard[i], want[:min(n, len(want))]) {
					t.Errorf("%+v heard %v, the table has %v", r.of, heard[i], want)
				}
			}
		})
	}
}

func (h *httpServer) newestEvent() int64 {
	h.Helper()
	_, newest, err := h.db.EventIDs(context.Background())
	if err != nil {
		h.Fatal(err)
	}
	return newest
}

// A script that submits and then follows hears the whole story, and its end.
func TestEvents_AJobsStreamIsItsStory(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	path := "/v1/jobs/" + r.JobID + "/events"
	e := h.listen(path, h.read)
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := e.response.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	story := e.until("attempt.leased")
	r.reach("running")
	story = append(story, e.until("progress")...)
	r.reach("uploading")
	r.commit()
	story = append(story, e.until("job.succeeded")...)
	e.ends()
	const whole = "job.queued attempt.leased attempt.running progress attempt.uploading job.verifying job.succeeded"
	if got := kinds(story); got != whole {
		t.Fatalf("heard %s", got)
	}
	for _, b := range story {
		if *b.JobID != r.JobID || *b.AccountID != h.account || (b.Event.ID == nil) != (b.kind == "progress") || b.At.IsZero() {
			t.Errorf("%+v", b)
		}
	}
	if p := story[3]; p.id != "" || *p.AttemptID != r.AttemptID || *p.DeviceID != m.id || string(p.Data) != `{"phase":"running","fraction":0.5,"fps":null,"speed":null,"eta_s":null}` {
		t.Errorf("progress %+v: %s", p, p.Data)
	}

	again := h.listen(path, h.read)
	if got := kinds(again.until("job.succeeded")); got != "job.queued attempt.leased attempt.running attempt.uploading job.verifying job.succeeded" {
		t.Errorf("afterwards: %s", got)
	}
	again.ends()
	last := story[len(story)-1].id
	if done := h.ask(path, h.read, "Last-Event-ID", last); done.response.StatusCode != 204 {
		t.Errorf("with the last id: %d", done.response.StatusCode)
	}
	if got := kinds(h.listen(path, h.read, "Last-Event-ID", story[0].id).until("job.succeeded")); got != "attempt.leased attempt.running attempt.uploading job.verifying job.succeeded" {
		t.Errorf("from the second event: %s", got)
	}
	h.get("/v1/jobs", h.read).is(200) // the connection still serves
}

func TestEvents_AnUnknownIdResets(t *testing.T) {
	h := mustStudioOf(t, func(o *store.Options) {
		raw := mustRaw(t, o.Path)
		defer raw.Close()
		for _, q := range []string{
			`INSERT INTO settings (name, value) VALUES ('events_horizon', '101')`,
			`INSERT INTO events (id, at, type, data) VALUES (150, 1, 'device.online', '{}')`,
		} {
			if _, err := raw.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
	})
	newest := strconv.FormatInt(h.newestEvent(), 10)
	for id, known := range map[string]bool{
		"x": false, "-1": false, "1e3": false, "0": false, "99": false, "100": true, "101": true, "150": true, "1000": false, "99999999999999999999": false,
	} {
		e := h.listen("/v1/events", h.admin, "Last-Event-ID", id)
		job := h.mustSubmit(h.submit)
		heard := e.until("job.queued")
		first := heard[0]
		if !known && (first.kind != "reset" || first.id != newest || string(first.Data) != "{}" || first.JobID != nil) || known && first.kind == "reset" {
			t.Errorf("from %s: %+v", id, first)
		}
		if got := *heard[len(heard)-1].JobID; !known && (len(heard) != 2 || got != job.ID) {
			t.Errorf("after the reset from %s: %s of %s", id, kinds(heard), got)
		}
		of := h.listen("/v1/jobs/"+job.ID+"/events", h.submit, "Last-Event-ID", "x")
		if got := kinds(of.until("job.queued")); got != "reset job.queued" {
			t.Errorf("a job's stream: %s", got)
		}
		h.post("/v1/jobs/"+job.ID+"/cancel", h.submit, nil).is(202)
		of.until("job.cancelled")
		of.ends()
		newest = strconv.FormatInt(h.newestEvent(), 10)
	}
}

// A new stream says where it begins, so that one that is cut off before the
// first event comes back to that place.
func TestEvents_FromNowOnIsAPlace(t *testing.T) {
	h := mustStudio(t)
	h.mustSubmit(h.submit)
	e := h.listen("/v1/events", h.read)
	at := e.must()
	e.hang()
	if at.kind != "" || at.id != strconv.FormatInt(h.newestEvent(), 10) {
		t.Fatalf("%+v", at)
	}
	job := h.mustSubmit(h.submit)
	if got := h.listen("/v1/events", h.read, "Last-Event-ID", at.id).must(); got.kind != "job.queued" || *got.JobID != job.ID {
		t.Fatalf("%+v", got)
	}
}

func TestEvents_AnAccountHearsOnlyItsOwn(t *testing.T) {
	h := mustStudio(t)
	theirs, ours, all := h.listen("/v1/events", h.otherAccountSubmit), h.listen("/v1/events", h.read), h.listen("/v1/events", h.otherAdmin)
	m := h.mustMac(1)
	r := m.mustRun()
	r.reach("running")
	path := "/v1/jobs/" + r.JobID + "/events"
	h.dialRefused(path, h.otherAccountSubmit)
	h.get(path, h.otherAccountSubmit).refuses(404, "not_found")
	h.listen(path, h.otherAdmin).until("attempt.running")
	last := h.mustSubmit(h.otherAccountSubmit)
	all.until("attempt.leased")
	all.until("progress")
	if got := ours.until("progress"); kinds(got[1:]) != "job.queued attempt.leased attempt.running progress" {
		t.Errorf("the account heard %s", kinds(got))
	}
	if got := theirs.until("job.queued"); len(got) != 2 || *got[1].JobID != last.ID {
		t.Errorf("another account heard %s", kinds(got))
	}
	for key, want := range map[string]string{h.read: "attempt.running attempt.leased job.queued", h.otherAccountSubmit: "job.queued"} {
		var got []block
		for _, ev := range into[api.List[api.Event]](h.get("/v1/events", key).is(200)).Items {
			got = append(got, block{kind: ev.Type})
		}
		if kinds(got) != want {
			t.Errorf("an account's history: %s, want %s", kinds(got), want)
		}
	}
}

func (h *httpServer) dialRefused(path, key string) {
	h.Helper()
	e := h.ask(path, key)
	if e.response.StatusCode != 404 || e.response.Header.Get("Content-Type") != api.ProblemType {
		h.Fatalf("%s: %d", path, e.response.StatusCode)
	}
}

// The newest progress of each run is what a stream begins with, and a run that
// has ended has none.
func TestEvents_ProgressIsTheNewestOfEachRun(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(2)
	one, two := m.mustRun(), m.mustRun()
	before := h.listen("/v1/events", h.admin)
	for _, r := range []*run{one, two} {
		r.reach("downloading")
		r.reach("running")
		before.until("attempt.running")
		before.until("progress")
	}
	one.fail("runner_failed")
	before.until("job.failed")
	last := strconv.FormatInt(h.history(store.EventFilter{JobID: two.JobID})[3], 10)
	e := h.listen("/v1/events", h.admin)
	e.must()
	if got := e.must(); got.kind != "progress" || *got.AttemptID != two.AttemptID {
		t.Fatalf("began with %+v", got)
	}
	nobodys := func(r *api.JobRequest) { r.Requires = &api.Requires{Tags: []string{"elsewhere"}} }
	for range 2 { // once is enough
		h.mustSubmit(h.submit, nobodys)
		if got := e.must(); got.kind != "job.queued" {
			t.Fatalf("after the progress: %+v", got)
		}
	}
	before.hang()
	e.hang()
	h.comes("nobody listens", func() bool { return h.streams() == 0 })
	h.mustSubmit(h.submit, nobodys)
	if got := h.listen("/v1/jobs/"+two.JobID+"/events", h.read, "Last-Event-ID", last).must(); got.kind != "progress" {
		t.Fatalf("nobody had listened, and then: %+v", got)
	}
	e = h.listen("/v1/events", h.admin)
	e.must()
	e.until("progress")
	two.reach("downloading") // behind its phase: a heartbeat, and nothing that is shown (F5)
	two.fail("runner_failed")
	if got := kinds(e.until("job.failed")); got != "job.failed" {
		t.Fatalf("then %s", got)
	}
}

// More than the feed keeps in memory, in one COMMIT.
func TestEvents_ABurstIsReadFromTheDatabase(t *testing.T) {
	h := mustServe(t)
	h.srv.feed.kept = 5
	h.mustStart()
	e := h.listen("/v1/events", h.admin)
	e.must()
	upload := storetest.MustUpload(t, h.db, h.account)
	many := slices.Repeat([]store.NewJob{storetest.Job(h.account, upload)}, 20)
	for range 3 {
		made, err := h.db.SubmitOnce(t.Context(), store.Once{}, many...)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range made.IDs {
			if got := e.must(); *got.JobID != id {
				t.Fatalf("heard of %s, not %s", *got.JobID, id)
			}
		}
	}
}

func TestEvents_HistoryInPages(t *testing.T) {
	h := mustServe(t)
	var jobs []string
	for range 3 {
		j := h.mustSubmit(h.submit)
		h.post("/v1/jobs/"+j.ID+"/cancel", h.submit, nil).is(202)
		jobs = append(jobs, j.ID)
	}
	read := func(path string) (all []string) {
		for cursor := ""; ; {
			p := into[api.List[api.Event]](h.get(path+"?limit=1"+cursor, h.read).is(200))
			for _, e := range p.Items {
				all = append(all, fmt.Sprint(slices.Index(jobs, *e.JobID), e.Type))
			}
			if p.NextCursor == nil {
				return all
			}
			cursor = "&cursor=" + *p.NextCursor
		}
	}
	want := []string{"2job.cancelled", "2job.queued", "1job.cancelled", "1job.queued", "0job.cancelled", "0job.queued"}
	if got := read("/v1/events"); !slices.Equal(got, want) {
		t.Errorf("newest first: %v", got)
	}
	if got := read("/v1/jobs/" + jobs[1] + "/events"); !slices.Equal(got, []string{"1job.queued", "1job.cancelled"}) {
		t.Errorf("a job's: %v", got)
	}
	for _, path := range []string{"/v1/events", "/v1/jobs/" + jobs[0] + "/events"} {
		for _, query := range []string{"?cursor=x", "?cursor=-1", "?limit=0", "?limit=501", "?kind=job.failed"} {
			h.get(path+query, h.read).refuses(422, "invalid_request")
		}
	}
	h.get("/v1/jobs/job_0/events", h.read).refuses(404, "not_found")
	h.dialRefused("/v1/jobs/job_0/events", h.read)
	if storetest.MustDevice(t, h.db); len(read("/v1/events")) != len(want) {
		t.Error("a device's events are its account's")
	}
}
