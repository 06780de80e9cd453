package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
	"rendermac/web"
)

func TestAttemptStory_GoesByItsEvents(t *testing.T) {
	begun := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begun.Add(time.Duration(s) * time.Second) }
	ended := at(100)
	event := func(s int, attempt, kind, data string) store.Event {
		return store.Event{At: at(s), Type: kind, AttemptID: &attempt, Data: json.RawMessage(data)}
	}
	all := []store.Event{
		event(0, "att_1", "attempt.leased", `{"attempt_number":1}`), event(2, "att_1", "attempt.downloading", "{}"), event(10, "att_1", "attempt.running", "{}"),
		event(40, "att_2", "attempt.leased", `{"attempt_number":2}`), event(50, "att_1", "attempt.resumed", `{"lease_epoch":2}`), event(90, "att_1", "job.verifying", "{}"),
	}
	attempt := store.Attempt{ID: "att_1", Status: fence.AttemptSucceeded, LeasedAt: begun, EndedAt: &ended}
	for name, c := range map[string]struct {
		events []store.Event
		phases []web.Phase
		marks  []web.Mark
	}{
		"all of them": {
			all,
			[]web.Phase{{Name: "leased", From: at(0), To: at(2)}, {Name: "downloading", From: at(2), To: at(10)}, {Name: "running", From: at(10), To: at(90)}, {Name: "verifying", From: at(90), To: at(100)}},
			[]web.Mark{{Kind: "leased", At: at(0)}, {Kind: "resumed", At: at(50), Epoch: 2}, {Kind: "committed", At: at(90)}},
		},
		"the first ones removed": {all[4:], []web.Phase{{Name: "ran", From: at(0), To: at(90)}, {Name: "verifying", From: at(90), To: at(100)}}, []web.Mark{{Kind: "resumed", At: at(50), Epoch: 2}, {Kind: "committed", At: at(90)}}},
		"all removed":            {nil, []web.Phase{{Name: "ran", From: at(0), To: at(100)}}, nil},
	} {
		got := attemptStory(attempt, c.events, at(500))
		if !slices.Equal(got.Phases, c.phases) || !slices.Equal(got.Marks, c.marks) {
			t.Errorf("%s: phases %+v, marks %+v", name, got.Phases, got.Marks)
		}
	}
}

// An input that another job has made can be seen; below admin the page has nothing
// of an admin's.
func TestDashboard_JobShowsWhatItsKeyMaySee(t *testing.T) {
	h := mustServe(t)
	first := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = ptr("first.mp4") })
	h.mustSucceed([]byte("film"), "the sound is shorter than the picture")
	second := h.mustSubmit(h.submit, func(r *api.JobRequest) {
		r.Inputs, r.WebhookURL, r.Labels = []api.Input{{JobID: &first.ID}}, ptr("https://example.test/hook"), map[string]string{"client": "acme"}
	})
	h.do("POST", "/v1/jobs/"+second.ID+"/cancel", h.submit, nil).is(202)
	made := string(h.get("/jobs/"+first.ID, h.read).is(200).body)
	uploaded := "/v1/jobs/" + first.ID + "/inputs/1"
	for _, shown := range []string{`src="` + uploaded + `"`, `href="` + uploaded + `?download=true" download="`, "<title>first.mp4 ·", "the sound is shorter than the picture", `<video controls`, `download="first.mp4"`, "Succeeded after"} {
		if !strings.Contains(made, shown) {
			t.Errorf("of a result a reader is not shown %q", shown)
		}
	}
	for key, admin := range map[string]bool{h.read: false, h.admin: true} {
		page := string(h.get("/jobs/"+second.ID, key).is(200).body)
		for _, shown := range []string{`href="/jobs/` + first.ID, `src="/v1/jobs/` + first.ID + "/output", "https://example.test/hook", "client:acme", "cancelled"} {
			if !strings.Contains(page, shown) {
				t.Errorf("with admin %t the page lacks %q", admin, shown)
			}
		}
		for _, own := range []string{"/jobs?account=" + h.account, "job.cancelled</span>", "data-redeliver"} {
			if strings.Contains(page, own) != admin {
				t.Errorf("with admin %t the page is wrong about %q", admin, own)
			}
		}
	}
	h.get("/jobs/"+first.ID, h.otherRead).is(404)
}

// A page may load media from its own origin only, whatever public_url says.
func TestDashboard_AnOutputComesFromWhereThePageDid(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	h.mustSucceed([]byte("film"))
	h.srv.o.PublicURL = "https://render.example.test"
	path := "/v1/jobs/" + job.ID + "/output"
	if to := h.get(path, h.read).is(302).Header.Get("Location"); !strings.HasPrefix(to, "https://render.example.test/v1/blobs/") {
		t.Errorf("a program is sent to %s", to)
	}
	cookie := h.mustSignIn(h.read)
	if to := h.do("GET", path, "", nil, "Cookie", cookie).is(302).Header.Get("Location"); !strings.HasPrefix(to, "/v1/blobs/") {
		t.Errorf("a page is sent to %s", to)
	}
}

func TestDashboard_JobTellsHowItWaitsAndRuns(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	h.mustSubmit(h.submit, func(r *api.JobRequest) { r.Inputs = []api.Input{{JobID: &job.ID}} })
	page := string(h.get("/jobs/"+job.ID, h.submit).is(200).body)
	for _, shown := range []string{"It waits for a Mac that takes jobs.", "No Mac works on it", "1 job waits for its output: it fails with it."} {
		if !strings.Contains(page, shown) {
			t.Errorf("of a job that waits it is not told %q", shown)
		}
	}
	s := storetest.MustDevice(t, h.db)
	claim := storetest.Claim(s, storetest.MustLease(t, h.db, s))
	if _, err := h.db.Fail(t.Context(), claim, fence.DownloadFailed, "connection reset by peer"); err != nil {
		t.Fatal(err)
	}
	page = string(h.get("/jobs/"+job.ID, h.submit).is(200).body)
	for _, shown := range []string{"Attempt 1 of 3 has ended", "connection reset by peer.", "/devices#" + s.DeviceID, "Goes back to the queue"} {
		if !strings.Contains(page, shown) {
			t.Errorf("of a job that waits again it is not told %q", shown)
		}
	}
}

// Whoever comes back to a job that has failed finds what became of it.
func TestDashboard_JobLeadsToItsNewestRetry(t *testing.T) {
	h := mustServe(t)
	first := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = ptr("first.mp4") })
	h.do("POST", "/v1/jobs/"+first.ID+"/cancel", h.submit, nil).is(202)
	var retries []api.Job
	for range 2 {
		retries = append(retries, into[api.Job](h.post("/v1/jobs/"+first.ID+"/retry", h.submit, nil).is(201)))
	}
	page := string(h.get("/jobs/"+first.ID, h.read).is(200).body)
	if !strings.Contains(page, `Tried again as <a href="/jobs/`+retries[1].ID) || strings.Contains(page, retries[0].ID) {
		t.Error("the page of the first does not lead to the last")
	}
	page = string(h.get("/jobs/"+retries[1].ID, h.read).is(200).body)
	if !strings.Contains(page, `Another try of <a href="/jobs/`+first.ID) || strings.Contains(page, "Tried again") {
		t.Error("the page of the last does not lead to the first, or to another")
	}
}
