package server

import (
	"bytes"
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/store"
)

func (h *httpServer) once(path, api, key string, in any) reply {
	h.Helper()
	return h.do("POST", path, api, in, keyHeader, key)
}

// first and replayed hold an answer to which of the two it is.
func (r reply) first() reply    { r.Helper(); return r.marked("") }
func (r reply) replayed() reply { r.Helper(); return r.marked("true") }

func (r reply) marked(want string) reply {
	r.Helper()
	if got := r.is(201).Header.Get("Idempotency-Replayed"); got != want {
		r.Fatalf("Idempotency-Replayed is %q, want %q", got, want)
	}
	return r
}

func (h *httpServer) jobs(query string) []string {
	h.Helper()
	var ids []string
	for _, j := range into[api.List[api.JobItem]](h.get("/v1/jobs?limit=500&"+query, h.admin).is(200)).Items {
		ids = append(ids, j.ID)
	}
	return ids
}

func (h *httpServer) jobRequest(key string) api.JobRequest {
	u := h.mustUpload(key, "clip.mov", []byte("clip"))
	return api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &u.ID}}}
}

func TestOnce_ASubmitIsCarriedOutOnce(t *testing.T) {
	h := mustServe(t)
	deadline := h.clock.Now().Add(time.Hour)
	r := h.jobRequest(h.submit)
	r.AdmissionDeadline = &deadline
	j := into[api.Job](h.once("/v1/jobs", h.submit, "a key", r).first())
	h.post("/v1/jobs/"+j.ID+"/cancel", h.submit, nil).is(202)
	h.clock.Advance(2 * time.Hour) // the same request would be refused by now
	again := into[api.Job](h.once("/v1/jobs", h.submit, "a key", r).replayed())
	if again.ID != j.ID || again.Status != "cancelled" {
		t.Errorf("the same key and body answer job %s, %s", again.ID, again.Status)
	}
	text := mustJSON(t, r)
	p := h.once("/v1/jobs", h.submit, "a key", text+" ").refuses(422, "idempotency_key_reused")
	if strings.Contains(p.Detail, "a key") {
		t.Errorf("the detail repeats what was sent: %s", p.Detail)
	}
	r.AdmissionDeadline = nil
	h.once("/v1/jobs", h.admin, "b", r).first()
	h.once("/v1/jobs", h.submit, "b", r).replayed() // the account's key, not the API key's
	mine := h.jobRequest(h.otherAccountSubmit)
	h.once("/v1/jobs", h.otherAccountSubmit, "a key", mine).first()
	h.once("/v1/jobs/batch", h.submit, "a key", api.BatchRequest{Jobs: []api.JobRequest{r}}).first() // another route
	if got := h.jobs(""); len(got) != 4 {
		t.Errorf("%d jobs, want 4", len(got))
	}
	h.clock.Advance(24 * time.Hour)
	h.once("/v1/jobs", h.submit, "b", text[:len(text)-1]+`,"priority":1,"admission_deadline":null}`).is(400) // a key twice
	h.once("/v1/jobs", h.submit, "b", mustJSON(t, r)+" ").first()
}

func TestOnce_ErrorsAreNotKept(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	r.Service = "nothing"
	h.once("/v1/jobs", h.submit, "k", r).refuses(422, "invalid_request")
	r.Service = "ffmpeg.transcode"
	h.once("/v1/jobs", h.submit, "k", r).first()

	full := mustServe(t, func(o *Options) { o.MaxUploadBytes = 1 << 62 })
	huge := api.UploadRequest{Name: "a", Bytes: 1 << 50}
	for range 2 {
		full.once("/v1/uploads", full.submit, "k", huge).refuses(507, "storage_full")
	}
	full.once("/v1/uploads", full.submit, "k", api.UploadRequest{Name: "a", Bytes: 1}).first()
}

func TestOnce_KeysAreChecked(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	for _, key := range []string{"", strings.Repeat("k", 256), "a\tb", "\xff", "a\u0085b"} {
		p := h.once("/v1/jobs", h.submit, key, r).refuses(422, "invalid_request")
		if len(p.Errors) != 1 || p.Errors[0].Location != "header.Idempotency-Key" {
			t.Errorf("%q: %+v", key, p.Errors)
		}
	}
	two, _ := http.NewRequest("POST", h.url+"/v1/jobs", strings.NewReader(mustJSON(t, r)))
	two.Header = http.Header{"Authorization": {"Bearer " + h.submit}, "Content-Type": {"application/json"}, keyHeader: {"a", "b"}}
	h.send(two).refuses(422, "invalid_request")
	for _, key := range []string{"k", strings.Repeat("é", 255), "a b~"} {
		h.once("/v1/jobs", h.submit, key, r).first()
	}
}

func TestOnce_UploadsAreSignedAnew(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes = 2 })
	r := api.UploadRequest{Name: "a.mov", Bytes: 3}
	made := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "k", r).first())
	h.mustPut(made.Parts[0], []byte("ab"))
	h.clock.Advance(time.Hour)
	again := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "k", r).replayed())
	if again.ID != made.ID || len(again.Parts) != 1 || again.Parts[0].Number != 2 || again.Parts[0].URL == made.Parts[1].URL {
		t.Fatalf("answered anew: %+v, at first %+v", again, made)
	}
	h.mustPut(again.Parts[0], []byte("c"))
	h.post("/v1/uploads/"+made.ID+"/complete", h.submit, nil).is(200)
	if last := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "k", r).replayed()); last.ID != made.ID || len(last.Parts) != 0 {
		t.Errorf("once complete: %+v", last)
	}

	gone := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "gone", r).first())
	if err := h.db.DropUpload(t.Context(), store.Once{}, gone.ID); err != nil {
		t.Fatal(err)
	}
	if p := h.once("/v1/uploads", h.submit, "gone", r).refuses(404, "not_found"); !strings.Contains(p.Detail, "removed") {
		t.Errorf("of an upload that is gone: %s", p.Detail)
	}
}

// An upload whose request was cut off before its bytes had a place gets one.
func TestOnce_AnUploadThatNeverBeganBegins(t *testing.T) {
	h := mustServe(t)
	r := api.UploadRequest{Name: "a.mov", Bytes: 3}
	made := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "k", r).first())
	if err := h.files.Abort(t.Context(), "uploads/"+made.ID+"/original"); err != nil {
		t.Fatal(err)
	}
	again := into[api.UploadCreated](h.once("/v1/uploads", h.submit, "k", r).replayed())
	h.mustPut(again.Parts[0], []byte("abc"))
	h.post("/v1/uploads/"+made.ID+"/complete", h.submit, nil).is(200)
}

// 20 submits with one key race, and make one job.
func TestOnce_TwentyRacingSubmitsMakeOneJob(t *testing.T) {
	h := mustServe(t)
	for path, in := range map[string]any{"/v1/jobs": h.jobRequest(h.submit), "/v1/jobs/batch": api.BatchRequest{Jobs: []api.JobRequest{h.jobRequest(h.submit)}}} {
		before := len(h.jobs(""))
		var all sync.WaitGroup
		answers := make([]reply, 20)
		for i := range answers {
			all.Go(func() { answers[i] = h.once(path, h.submit, "race", in) })
		}
		all.Wait()
		first := 0
		for _, r := range answers {
			if r.is(201).Header.Get("Idempotency-Replayed") == "" {
				first++
			}
			if !bytes.Equal(r.body, answers[0].body) {
				t.Errorf("answers differ: %s and %s", r.body, answers[0].body)
			}
		}
		if made := len(h.jobs("")) - before; made != 1 || first != 1 {
			t.Errorf("%s: %d jobs were made and %d answers say so", path, made, first)
		}
	}
}

func TestOnce_ARetrysKeyIsOfItsJob(t *testing.T) {
	h := mustServe(t)
	one, two := h.mustSubmit(h.submit), h.mustSubmit(h.submit)
	for _, j := range []api.Job{one, two} {
		h.post("/v1/jobs/"+j.ID+"/cancel", h.submit, nil).is(202)
		made := into[api.Job](h.once("/v1/jobs/"+j.ID+"/retry", h.submit, "k", nil).first())
		again := into[api.Job](h.once("/v1/jobs/"+j.ID+"/retry", h.submit, "k", nil).replayed())
		if *made.RetryOf != j.ID || again.ID != made.ID {
			t.Errorf("the retry of %s is %s of %s, then %s", j.ID, made.ID, *made.RetryOf, again.ID)
		}
	}
	h.once("/v1/jobs/"+one.ID+"/retry", h.submit, "k", `{}`).refuses(422, "idempotency_key_reused")
	h.once("/v1/jobs/"+one.ID+"/retry", h.otherAccountSubmit, "k", nil).refuses(404, "not_found")
}

// What is left of keys goes with their day.
func TestOnce_KeysAreForgotten(t *testing.T) {
	h := mustServe(t)
	r := h.jobRequest(h.submit)
	h.once("/v1/jobs", h.submit, "old", r).first()
	h.clock.Advance(23 * time.Hour)
	h.once("/v1/jobs", h.submit, "young", r).first()
	h.clock.Advance(time.Hour)
	if err := h.db.ForgetKeys(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.once("/v1/jobs", h.submit, "young", r).replayed()
	h.db.Close()
	raw, err := sql.Open("sqlite", filepath.Join(h.dir, "rendermac.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	var keys string
	if err := raw.QueryRow(`SELECT group_concat(key) FROM idempotency_keys`).Scan(&keys); err != nil || keys != "young" {
		t.Errorf("%q are left, %v", keys, err)
	}
}

// An admin's retry of another account's job is of that account: whoever sends the
// same key again sees no more of it than without one.
func TestOnce_AReplayShowsNoOtherAccountsJob(t *testing.T) {
	h := mustServe(t)
	j := h.mustSubmit(h.submit)
	h.post("/v1/jobs/"+j.ID+"/cancel", h.submit, nil).is(202)
	h.once("/v1/jobs/"+j.ID+"/retry", h.otherAdmin, "a key", nil).first()
	h.once("/v1/jobs/"+j.ID+"/retry", h.otherAdmin, "a key", nil).replayed()
	h.once("/v1/jobs/"+j.ID+"/retry", h.otherAccountSubmit, "a key", nil).refuses(404, "not_found")
}
