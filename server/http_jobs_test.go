package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

func TestJobs_SubmitShowsWhatWasAsked(t *testing.T) {
	h := mustServe(t)
	u := h.mustUpload(h.submit, "interview.mov", []byte("clip"))
	h.clock.Advance(1500 * time.Microsecond)
	body := fmt.Sprintf(`{"service":"ffmpeg.transcode","params":{"preset":"web-1080p"},"inputs":[{"upload_id":%q}],
		"priority":7,"max_attempts":2,"admission_deadline":"2026-12-02T10:00:00+02:00","requires":{"tags":["studio-b","a"],"min_memory_gb":16},
		"webhook_url":"https://example.test/hook","webhook_events":["job.succeeded"],"output_name":"interview-web.mp4","labels":{"client":"acme"}}`, u.ID)
	r := h.post("/v1/jobs", h.submit, body).is(201)
	j := into[api.Job](r)
	want := fmt.Sprintf(`{"id":%q,"account_id":%q,"status":"queued","service":"ffmpeg.transcode","params":{"preset":"web-1080p"},"inputs":[{"upload_id":%q,"job_id":null,"path":null}],`+
		`"priority":7,"max_attempts":2,"admission_deadline":"2026-12-02T08:00:00Z","requires":{"tags":["studio-b","a"],"min_memory_gb":16},`+
		`"webhook_url":"https://example.test/hook","webhook_events":["job.succeeded"],"output_name":"interview-web.mp4","labels":{"client":"acme"},`+
		`"retry_of":null,"waiting_on":null,"reading":0,"failure_code":null,"failure_message":null,"created_at":"2026-12-01T08:00:00.001Z","started_at":null,"finished_at":null,`+
		`"hold":null,"artifact":null,"input_media":[null],"attempts":[]}`+"\n", j.ID, h.account, u.ID)
	if string(r.body) != want {
		t.Errorf("got\n%s, want\n%s", r.body, want)
	}
	if got := h.get("/v1/jobs/"+j.ID, h.read).is(200); !bytes.Equal(got.body, r.body) {
		t.Errorf("read again: %s", got.body)
	}
}

func TestJobs_DefaultsAreNull(t *testing.T) {
	h := mustServe(t)
	j := h.mustSubmit(h.submit)
	if j.Priority != 0 || j.MaxAttempts != 3 || j.AdmissionDeadline != nil || j.Requires != nil || j.WebhookURL != nil ||
		j.WebhookEvents != nil || j.Labels != nil || *j.OutputName != "clip.mp4" {
		t.Errorf("got %+v", j)
	}
	hooked := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.WebhookURL = ptr("http://x.test/") })
	if !slices.Equal(hooked.WebhookEvents, []string{"job.succeeded", "job.failed", "job.cancelled"}) {
		t.Errorf("events by default: %q", hooked.WebhookEvents)
	}
}

func TestJobs_EveryFaultAtOnce(t *testing.T) {
	h := mustServe(t)
	foreign := h.mustUpload(h.otherAccountSubmit, "theirs.mov", []byte("x"))
	unfinished := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"a","bytes":1}`).is(201))
	body := fmt.Sprintf(`{"service":"ffmpeg.transcode","params":{"preset":"web-1080p","width":"wide","bogus":1},
		"inputs":[{"upload_id":"upl_0"},{"upload_id":%q},{"upload_id":%q},{"job_id":"job_0"},{"path":"ROOT/a.mov"},{},{"upload_id":"a","job_id":"b"}],
		"priority":101,"max_attempts":11,"admission_deadline":"2020-01-01T00:00:00Z","requires":{"min_memory_gb":-1},
		"webhook_url":"ftp://x","webhook_events":["job.lost"],"output_name":"a/b","labels":{"k":"line\nbreak"},"colour":"red"}`, foreign.ID, unfinished.ID)
	p := h.post("/v1/jobs", h.submit, body).refuses(422, "invalid_request")
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.Location)
	}
	for _, want := range []string{
		"params.width", "params.bogus", "inputs", "inputs[0].upload_id", "inputs[1].upload_id", "inputs[2].upload_id", "inputs[3].job_id",
		"inputs[4].path", "inputs[5]", "inputs[6]", "priority", "max_attempts", "admission_deadline", "requires.min_memory_gb",
		"webhook_url", "webhook_events[0]", "output_name", "labels", "colour",
	} {
		if !slices.Contains(at, want) {
			t.Errorf("no fault at %s among %q", want, at)
		}
	}
	if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs", h.admin).is(200)).Items); n != 0 {
		t.Errorf("%d jobs were stored", n)
	}
}

func TestJobs_Faults(t *testing.T) {
	h := mustServe(t)
	u := h.mustUpload(h.submit, "a.mov", []byte("x"))
	cases := map[string]struct{ body, at string }{
		"unknown service":     {`{"service":"ffmpeg.nothing","inputs":[IN]}`, "service"},
		"no service":          {`{"inputs":[IN]}`, "service"},
		"no inputs":           {`{"service":"ffmpeg.transcode","inputs":[]}`, "inputs"},
		"inputs null":         {`{"service":"ffmpeg.transcode","inputs":null}`, "inputs"},
		"impossible pair":     {`{"service":"ffmpeg.transcode","inputs":[IN],"params":{"video_codec":"prores","container":"mp4"}}`, "params.container"},
		"params no object":    {`{"service":"ffmpeg.transcode","inputs":[IN],"params":[1]}`, "params"},
		"deadline now":        {`{"service":"ffmpeg.transcode","inputs":[IN],"admission_deadline":"2026-12-01T08:00:00Z"}`, "admission_deadline"},
		"deadline in year 1":  {`{"service":"ffmpeg.transcode","inputs":[IN],"admission_deadline":"0001-01-01T00:00:00Z"}`, "admission_deadline"},
		"deadline no time":    {`{"service":"ffmpeg.transcode","inputs":[IN],"admission_deadline":"tomorrow"}`, "admission_deadline"},
		"webhook lacks host":  {`{"service":"ffmpeg.transcode","inputs":[IN],"webhook_url":"http:///x"}`, "webhook_url"},
		"output is a folder":  {`{"service":"ffmpeg.transcode","inputs":[IN],"output_name":".."}`, "output_name"},
		"output controls":     {`{"service":"ffmpeg.transcode","inputs":[IN],"output_name":"a\nb"}`, "output_name"},
		"output too long":     {`{"service":"ffmpeg.transcode","inputs":[IN],"output_name":"` + strings.Repeat("é", 128) + `"}`, "output_name"},
		"too many labels":     {`{"service":"ffmpeg.transcode","inputs":[IN],"labels":{` + strings.Repeat(`"K":"",`, 32) + `"k":""}}`, "labels"},
		"label without a key": {`{"service":"ffmpeg.transcode","inputs":[IN],"labels":{"":"x"}}`, "labels"},
		"label no text":       {`{"service":"ffmpeg.transcode","inputs":[IN],"labels":{"a":1}}`, "labels.a"},
		"priority no integer": {`{"service":"ffmpeg.transcode","inputs":[IN],"priority":1.5}`, "priority"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			body := strings.ReplaceAll(c.body, "IN", fmt.Sprintf(`{"upload_id":%q}`, u.ID))
			for i := 0; strings.Contains(body, `"K"`); i++ {
				body = strings.Replace(body, `"K"`, fmt.Sprintf(`"k%d"`, i), 1)
			}
			p := h.post("/v1/jobs", h.submit, body).refuses(422, "invalid_request")
			if len(p.Errors) != 1 || p.Errors[0].Location != c.at {
				t.Errorf("got %+v, want one fault at %s", p.Errors, c.at)
			}
		})
	}
}

func TestJobs_CreditsShort(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Pricing = map[string]int64{"ffmpeg.transcode": 3} })
	j := h.mustSubmit(h.otherAccountSubmit)
	if j.Hold == nil || j.Hold.Credits != 3 || j.Hold.State != "held" {
		t.Errorf("the hold is %+v", j.Hold)
	}
	r := api.JobRequest{Service: "ffmpeg.transcode", Inputs: j.Inputs}
	h.post("/v1/jobs", h.otherAccountSubmit, r).refuses(402, "credit_exhausted")
	h.post("/v1/jobs/"+j.ID+"/cancel", h.otherAccountSubmit, nil).is(202)
	h.post("/v1/jobs", h.otherAccountSubmit, r).is(201)
}

func TestJobs_ListPagesAndFilters(t *testing.T) {
	h := mustServe(t)
	first := h.mustSubmit(h.submit)
	ids := []string{first.ID}
	for range 4 {
		j := into[api.Job](h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Inputs: first.Inputs}).is(201))
		ids = append(ids, j.ID)
	}
	h.post("/v1/jobs/"+ids[1]+"/cancel", h.submit, nil).is(202)
	var got []string
	for at := "/v1/jobs?limit=2"; ; {
		r := h.get(at, h.read).is(200)
		if bytes.Contains(r.body, []byte(`"attempts"`)) {
			t.Error("a list has attempts")
		}
		page := into[api.List[api.JobItem]](r)
		for _, j := range page.Items {
			got = append(got, j.ID)
		}
		if page.NextCursor == nil {
			break
		}
		at = "/v1/jobs?limit=2&cursor=" + *page.NextCursor
	}
	slices.Reverse(ids)
	if !slices.Equal(got, ids) {
		t.Errorf("pages list %q, want %q", got, ids)
	}
	for query, want := range map[string]int{
		"status=queued": 4, "status=cancelled": 1, "status=queued,cancelled": 5, "status=failed": 0,
		"service=ffmpeg.transcode": 5, "service=other": 0, "limit=500": 5,
	} {
		if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs?"+query, h.read).is(200)).Items); n != want {
			t.Errorf("%s lists %d, want %d", query, n, want)
		}
	}
}

// F10 over HTTP: 202 as often as one likes, 409 once the job has ended.
func TestF10_CancelOverHTTP(t *testing.T) {
	h := mustServe(t)
	queued := h.mustSubmit(h.submit)
	if j := into[api.Job](h.post("/v1/jobs/"+queued.ID+"/cancel", h.submit, nil).is(202)); j.Status != "cancelled" || j.FinishedAt == nil || *j.FailureCode != "buyer_cancelled" {
		t.Errorf("a queued job became %+v", j)
	}
	h.post("/v1/jobs/"+queued.ID+"/cancel", h.submit, nil).refuses(409, "job_terminal")

	active := h.mustSubmit(h.submit)
	storetest.MustLease(t, h.db, storetest.MustDevice(t, h.db))
	for range 2 {
		if j := into[api.Job](h.post("/v1/jobs/"+active.ID+"/cancel", h.submit, nil).is(202)); j.Status != "cancelling" || len(j.Attempts) != 1 {
			t.Errorf("an active job became %+v", j)
		}
	}
}

func TestJobs_OutputAndLog(t *testing.T) {
	h := mustServe(t)
	name := `in "1" é.mp4`
	j := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = &name })
	at := "/v1/jobs/" + j.ID
	h.get(at+"/output", h.read).refuses(409, "job_not_succeeded")
	h.get(at+"/attempts/1/log", h.read).refuses(404, "not_found")
	content := []byte("the output")
	device := h.mustSucceed(content, "software encoder")

	done := into[api.Job](h.get(at, h.read).is(200))
	want := api.Artifact{Name: name, Bytes: 10, SHA256: sum(content), ContentType: "video/mp4", Media: &api.Media{ReadBy: "server", Container: "mp4", Brands: []string{}, Streams: []api.MediaStream{}}, Warnings: []string{"software encoder"}}
	if got, _ := json.Marshal(done.Artifact); string(got) != mustJSON(t, want) {
		t.Errorf("the artifact is %s, want %s", got, mustJSON(t, want))
	}
	if a := done.Attempts[0]; done.Status != "succeeded" || a.AttemptNumber != 1 || a.Status != "succeeded" || a.DeviceID != device.DeviceID || a.DeviceName != "mini" || a.LeaseEpoch != 1 || a.EndedAt == nil {
		t.Errorf("the attempt is %+v", a)
	}
	r := h.get(at+"/output", h.read).is(302)
	location := r.Header.Get("Location")
	if !strings.HasPrefix(location, h.url+"/v1/blobs/outputs/"+j.ID+"/") {
		t.Fatalf("redirected to %s", location)
	}
	file := h.get(location, "").is(200)
	if !bytes.Equal(file.body, content) || !strings.Contains(file.Header.Get("Content-Disposition"), "filename*=UTF-8''in%20%221%22%20%C3%A9.mp4") {
		t.Errorf("downloaded %q as %s", file.body, file.Header.Get("Content-Disposition"))
	}
	h.clock.Advance(fileURLs)
	h.get(location, "").refuses(403, "bad_signature")
	key := strings.TrimPrefix(location[:strings.Index(location, "?")], h.url+"/v1/blobs/")
	if err := h.files.Delete(context.Background(), key); err != nil {
		t.Fatal(err)
	}
	h.get(at+"/output", h.read).refuses(404, "not_found")

	log := h.get(at+"/attempts/1/log", h.read).is(200)
	if string(log.body) != "frame=1\nframe=2\n" || log.Header.Get("Content-Type") != "text/plain; charset=utf-8" || log.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the log came as %v: %q", log.Header, log.body)
	}
	h.get(at+"/attempts/2/log", h.read).refuses(404, "not_found")
	h.get(at+"/attempts/0/log", h.read).refuses(422, "invalid_request")
	h.post(at+"/cancel", h.submit, nil).refuses(409, "job_terminal")
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestJobs_ChainWaitsForItsInput(t *testing.T) {
	h := mustServe(t)
	first := h.mustSubmit(h.submit)
	chain := api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{JobID: &first.ID}}}
	second := into[api.Job](h.post("/v1/jobs", h.submit, chain).is(201))
	if second.WaitingOn == nil || *second.WaitingOn != first.ID || *second.Inputs[0].JobID != first.ID {
		t.Errorf("the second job is %+v", second)
	}
	h.post("/v1/jobs/"+first.ID+"/cancel", h.submit, nil).is(202)
	if j := into[api.Job](h.get("/v1/jobs/"+second.ID, h.read).is(200)); j.Status != "failed" || *j.FailureCode != "input_failed" {
		t.Errorf("after its input was cancelled it is %+v", j)
	}
	if p := h.post("/v1/jobs", h.submit, chain).refuses(422, "invalid_request"); p.Errors[0].Location != "inputs[0].job_id" {
		t.Errorf("faults: %+v", p.Errors)
	}
}

// What jobs ask of a device is stored in one form, whatever order it was
// written in, so that jobs alike share one queue.
func TestJobs_NeedsAreCanonical(t *testing.T) {
	h := mustServe(t)
	check := func(tags ...string) fence.Needs {
		r := api.JobRequest{Service: "ffmpeg.transcode", Requires: &api.Requires{Tags: tags}, Params: json.RawMessage(`{"burn_timecode":true}`)}
		j := jobCheck{Server: h.srv, r: r, job: store.NewJob{}}
		j.service()
		if len(j.faults) > 0 {
			t.Fatal(j.faults)
		}
		return j.job.Needs
	}
	if a, b := mustJSON(t, check("b", "a", "b")), mustJSON(t, check("a", "b")); a != b || !strings.Contains(a, `"features":["drawtext"]`) {
		t.Errorf("the same needs are written %s and %s", a, b)
	}
	if got := mustJSON(t, check()); strings.Contains(got, "null") {
		t.Errorf("no needs are written %s", got)
	}
}

// What the server read of an upload decides what its job needs: HDR is
// tone-mapped for the web, and not every ffmpeg can.
func TestJobs_NeedsFollowTheInput(t *testing.T) {
	h := mustServe(t)
	device := storetest.MustDevice(t, h.db) // has no zscale
	submit := func(clip []byte) api.Job {
		u := h.mustUpload(h.submit, "clip.mp4", clip)
		return into[api.Job](h.post("/v1/jobs", h.submit, api.JobRequest{
			Service: "ffmpeg.transcode", Params: json.RawMessage(`{"preset":"web-720p"}`), Inputs: []api.Input{{UploadID: &u.ID}},
		}).is(201))
	}
	submit(mustClip(t, "-pix_fmt", "yuv420p10le", "-c:v", "libx265", "-tag:v", "hvc1", "-x265-params", "log-level=error",
		"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc"))
	plain := submit(mustClip(t, "-pix_fmt", "yuv420p"))
	if o := storetest.MustLease(t, h.db, device); o.JobID != plain.ID {
		t.Errorf("a device without zscale was offered the HDR job")
	}
}
