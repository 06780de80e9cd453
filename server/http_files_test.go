package server

import (
	"strings"
	"testing"

	"rendermac/api"
)

// mustRead follows where a file of a job is, and gives what is there.
func (h *httpServer) mustRead(path string) (content, disposition string) {
	h.Helper()
	got := h.get(h.get(path, h.read).is(302).Header.Get("Location"), "").is(200)
	return string(got.body), got.Header.Get("Content-Disposition")
}

// Whoever may see a job may have what went into it, under the name that it had.
func TestFiles_AnUploadedInputIsGivenUnderItsName(t *testing.T) {
	h := mustServe(t)
	first, second := h.mustUpload(h.submit, `take "1" é.mov`, []byte("one")), h.mustUpload(h.submit, "take.weird", []byte("two"))
	job := into[api.Job](h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.concat", Inputs: []api.Input{{UploadID: &first.ID}, {UploadID: &second.ID}}}).is(201))
	at := "/v1/jobs/" + job.ID + "/inputs/"
	for path, want := range map[string][2]string{
		at + "1": {"one", "inline; filename"}, at + "1?download=true": {"one", "attachment; filename"}, at + "2": {"two", "attachment; filename"},
	} {
		if content, disposition := h.mustRead(path); content != want[0] || !strings.HasPrefix(disposition, want[1]) {
			t.Errorf("%s gives %q as %s, want %q", path, content, disposition, want)
		}
	}
	if _, disposition := h.mustRead(at + "1"); !strings.Contains(disposition, "filename*=UTF-8''take%20%221%22%20%C3%A9.mov") {
		t.Errorf("it comes as %s", disposition)
	}
	h.get(at+"3", h.read).refuses(404, "not_found")
	h.get(at+"0", h.read).refuses(422, "invalid_request")
	to := h.get(at+"1", h.read).Header.Get("Location")
	h.clock.Advance(fileURLs)
	h.get(to, "").refuses(403, "bad_signature")
}

func TestFiles_AnUploadThatRetentionHasRemovedIsGoneFromItsJobs(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Retention.Uploads = testDay })
	job := h.mustSubmit(h.submit)
	h.post("/v1/jobs/"+job.ID+"/cancel", h.submit, nil).is(202)
	h.clock.Advance(2 * testDay)
	h.post("/v1/gc", h.admin, `{}`).is(200)
	p := h.get("/v1/jobs/"+job.ID+"/inputs/1", h.read).refuses(410, "output_deleted")
	if !strings.Contains(p.Detail, "The input was deleted by retention on 2026-12-03") {
		t.Errorf("it says: %s", p.Detail)
	}
}

// A store that was lost, or a database restored from before, is not retention.
func TestFiles_AnUploadThatTheStoreHasLostIsNotThere(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	if err := h.files.Delete(t.Context(), "uploads/"+*job.Inputs[0].UploadID+"/original"); err != nil {
		t.Fatal(err)
	}
	h.get("/v1/jobs/"+job.ID+"/inputs/1", h.read).refuses(404, "not_found")
}

func TestFiles_AnInputThatAnotherJobMakesIsThatJobsOutput(t *testing.T) {
	h := mustServe(t)
	made := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = ptr("made.mp4") })
	job := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.Inputs = []api.Input{{JobID: &made.ID}} })
	at := "/v1/jobs/" + job.ID + "/inputs/1"
	asked, own := h.get(at, h.read).refuses(409, "job_not_succeeded"), h.get("/v1/jobs/"+made.ID+"/output", h.read).refuses(409, "job_not_succeeded")
	if asked.Detail != own.Detail {
		t.Errorf("the input is refused with %q, the output with %q", asked.Detail, own.Detail)
	}
	h.mustSucceed([]byte("the output"))
	if content, disposition := h.mustRead(at + "?download=true"); content != "the output" || !strings.HasPrefix(disposition, `attachment; filename="made.mp4"`) {
		t.Errorf("it gives %q as %s", content, disposition)
	}
}

func TestFiles_AnInputByPathIsNotInTheStore(t *testing.T) {
	v := mustVolume(t)
	h := mustServe(t, v.shared)
	job := h.mustShare("media/day1/clip.mov")
	p := h.get("/v1/jobs/"+job.ID+"/inputs/1", h.read).refuses(404, "not_found")
	if !strings.Contains(p.Detail, "media/day1/clip.mov") || strings.Contains(p.Detail, v.path) {
		t.Errorf("it says: %s", p.Detail)
	}
}
