package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"rendermac/api"
)

const (
	fakeKey = "rm_test"
	result  = "the verified result\n"
	// evilName would steer a terminal, and leave the folder.
	evilName = "../../evil\x1b[2J.mp4"
)

// fakeServer is the far side at the wire. How a job goes follows from its
// preset: "fails", "is-cancelled", "runs" for ever, "late" is queued when it is
// first asked for; any other succeeds.
type fakeServer struct {
	*httptest.Server
	submitted chan string // ids of jobs that were asked for while they run

	mu        sync.Mutex
	uploads   map[string]int64
	names     map[string]string // of uploads
	jobs      map[string]*api.Job
	asked     []string // bodies, newest last
	cancelled []string
}

func newFakeServer() *fakeServer {
	f := &fakeServer{uploads: map[string]int64{}, names: map[string]string{}, jobs: map[string]*api.Job{}, submitted: make(chan string, 100)}
	mux := http.NewServeMux()
	keyed := func(route string, h func(http.ResponseWriter, *http.Request)) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+fakeKey {
				refuse(w, 401, api.CodeUnauthenticated, "The API key is not known: make one with rendermac keys.")
				return
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			h(w, r)
		})
	}
	keyed("POST /v1/uploads", f.createUpload)
	keyed("POST /v1/uploads/{id}/parts", func(w http.ResponseWriter, r *http.Request) {
		respond(w, 200, api.UploadPartURLs{Parts: []api.PartURL{{Number: 1, URL: "/v1/blobs/" + r.PathValue("id")}}})
	})
	keyed("POST /v1/uploads/{id}/complete", f.completeUpload)
	keyed("POST /v1/jobs", f.submit)
	keyed("GET /v1/jobs", f.list)
	keyed("GET /v1/jobs/{id}", f.show)
	keyed("POST /v1/jobs/{id}/cancel", f.cancel)
	keyed("POST /v1/jobs/{id}/retry", f.retry)
	keyed("PATCH /v1/jobs/{id}", f.prioritize)
	keyed("GET /v1/jobs/{id}/attempts/{n}/log", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "attempt %s\nframe=1\r\n\x1b[2Jframe=2", r.PathValue("n"))
	})
	keyed("GET /v1/jobs/{id}/output", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v1/blobs/out?sig=1", http.StatusFound)
	})
	mux.HandleFunc("GET /v1/events", f.events)
	mux.HandleFunc("GET /v1/jobs/{id}/events", f.events)
	keyed("GET /v1/services", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, fakeServices) })
	keyed("GET /v1/devices", func(w http.ResponseWriter, r *http.Request) {
		list := fakeDevices
		if r.URL.Query().Get("state") == "revoked" {
			list = api.List[api.Device]{Items: []api.Device{}}
		}
		respond(w, 200, list)
	})
	keyed("GET /v1/devices/{id}", f.device)
	keyed("PATCH /v1/devices/{id}", f.device)
	keyed("DELETE /v1/devices/{id}", f.revoke)
	keyed("GET /v1/webhooks/deliveries", func(w http.ResponseWriter, r *http.Request) {
		f.asked = append(f.asked, r.URL.RawQuery)
		respond(w, 200, fakeDeliveries)
	})
	keyed("POST /v1/webhooks/deliveries/{id}/redeliver", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "whd_1" {
			refuse(w, 404, api.CodeNotFound, "There is no such delivery.")
			return
		}
		respond(w, 202, fakeDeliveries.Items[0])
	})
	keyed("POST /v1/pairings", func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		respond(w, 201, api.Pairing{Code: "K7QD-2MXP", ExpiresAt: time.Now().Add(10 * time.Minute), Command: "rendermac pair http://" + r.Host + " K7QD-2MXP"})
	})
	f.accountRoutes(keyed)
	mux.HandleFunc("POST /v1/provider/pair", f.pair)
	mux.HandleFunc("PUT /v1/blobs/{id}", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	mux.HandleFunc("GET /v1/blobs/out", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, result) })
	f.Server = httptest.NewServer(mux)
	return f
}

func respond(w http.ResponseWriter, status int, body any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, code, detail string, faults ...api.Fault) {
	w.Header().Set("Content-Type", api.ProblemType)
	respond(w, status, api.NewError(status, code, detail, faults...))
}

func (f *fakeServer) note(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	f.asked = append(f.asked, string(body))
	return body
}

func (f *fakeServer) createUpload(w http.ResponseWriter, r *http.Request) {
	var request api.UploadRequest
	_ = json.Unmarshal(f.note(r), &request)
	id := fmt.Sprintf("upl_%d", len(f.uploads)+1)
	f.uploads[id], f.names[id] = request.Bytes, request.Name
	respond(w, 201, api.UploadCreated{ID: id, PartBytes: 64 << 20})
}

func (f *fakeServer) completeUpload(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	respond(w, 200, api.UploadDone{ID: id, Bytes: f.uploads[id]})
}

func (f *fakeServer) submit(w http.ResponseWriter, r *http.Request) {
	var request api.JobRequest
	_ = json.Unmarshal(f.note(r), &request)
	var params struct{ Preset string }
	_ = json.Unmarshal(request.Params, &params)
	if request.Service == "mixed" {
		params.Preset = strings.TrimSuffix(f.names[*request.Inputs[0].UploadID], ".mov")
	}
	if params.Preset == "impossible" || params.Preset == "refused" {
		refuse(w, 422, api.CodeInvalid, "The job was not taken.", api.Fault{Location: "params.preset", Message: "is not one of web-1080p"})
		return
	}
	job := &api.Job{JobItem: api.JobItem{
		ID: fmt.Sprintf("job_%d", len(f.jobs)+1), Status: api.JobQueued, Service: request.Service,
		Params: request.Params, Inputs: request.Inputs, Labels: request.Labels, OutputName: new(evilName), CreatedAt: time.Now(),
		Requires: request.Requires, WebhookURL: request.WebhookURL, WebhookEvents: request.WebhookEvents, AdmissionDeadline: request.AdmissionDeadline,
		Hold: &api.Hold{Credits: 5, State: "held"},
	}}
	f.jobs[job.ID] = job
	respond(w, 201, job)
	if params.Preset != "late" {
		f.end(job, params.Preset)
	}
}

// end moves a job to where its preset leads, before anybody asks for it again.
func (f *fakeServer) end(job *api.Job, preset string) {
	attempt := api.Attempt{ID: "att_1", AttemptNumber: 1, Status: "succeeded", DeviceName: "studio-1", LeasedAt: time.Now()}
	switch preset {
	case "fails":
		job.Status, attempt.Status = api.JobFailed, "failed"
		job.FailureCode, job.FailureMessage = new("runner_failed"), new("the input has no video stream")
	case "is-cancelled":
		job.Status, attempt.Status = api.JobCancelled, "cancelled"
	case "runs":
		job.Status, attempt.Status, attempt.Fraction = api.JobActive, "running", new(0.25)
	default:
		sum := sha256.Sum256([]byte(result))
		job.Status = api.JobSucceeded
		job.Artifact = &api.Artifact{Name: evilName, Bytes: int64(len(result)), SHA256: hex.EncodeToString(sum[:])}
	}
	job.Attempts = []api.Attempt{attempt}
}

func (f *fakeServer) show(w http.ResponseWriter, r *http.Request) {
	job, ok := f.jobs[r.PathValue("id")]
	if !ok {
		refuse(w, 404, api.CodeNotFound, "There is no such job.")
		return
	}
	respond(w, 200, job)
	if job.Status == api.JobQueued {
		f.end(job, "")
		return
	}
	if !job.Ended() {
		select {
		case f.submitted <- job.ID:
		default:
		}
	}
}

// events is a stream that is cut off after each event, of a job that ends at once.
func (f *fakeServer) events(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	job := f.jobs[r.PathValue("id")]
	f.mu.Unlock()
	if r.PathValue("id") != "" && (job == nil || !job.Ended()) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", api.EventStreamType)
	switch {
	case r.Header.Get("Last-Event-ID") == "":
		_, _ = io.WriteString(w, "id: 1\nevent: device.paired\ndata: {\"id\":1,\"at\":\"2026-12-02T08:00:00Z\",\"type\":\"device.paired\",\"device_id\":\"dev_1\",\"data\":{\"name\":\"a\\u001b[2Jb\"}}\n\n")
	case job == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		fmt.Fprintf(w, "id: 2\nevent: job.%[1]s\ndata: {\"id\":2,\"at\":\"2026-12-02T08:00:01Z\",\"type\":\"job.%[1]s\",\"job_id\":%[2]q,\"data\":{}}\n\n", job.Status, job.ID)
	}
}

func (f *fakeServer) list(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RawQuery)
	page := api.List[api.JobItem]{Items: []api.JobItem{}}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(f.jobs))) {
		if s := r.URL.Query().Get("status"); s == "" || strings.Contains(s, f.jobs[id].Status) {
			page.Items = append(page.Items, f.jobs[id].JobItem)
		}
	}
	respond(w, 200, page)
}

func (f *fakeServer) cancel(w http.ResponseWriter, r *http.Request) {
	job := f.jobs[r.PathValue("id")]
	if job == nil || job.Ended() {
		refuse(w, 409, api.CodeJobTerminal, "The job has ended.")
		return
	}
	job.Status = api.JobCancelling
	f.cancelled = append(f.cancelled, job.ID)
	respond(w, 202, job)
}

func (f *fakeServer) device(w http.ResponseWriter, r *http.Request) {
	f.note(r)
	for _, d := range fakeDevices.Items {
		if d.ID == r.PathValue("id") {
			respond(w, 200, d)
			return
		}
	}
	refuse(w, 404, api.CodeNotFound, "There is no such device.")
}

func (f *fakeServer) retry(w http.ResponseWriter, r *http.Request) {
	old := f.jobs[r.PathValue("id")]
	if old == nil || !old.Ended() {
		refuse(w, 409, api.CodeJobNotTerminal, "The job has not ended.")
		return
	}
	job := &api.Job{JobItem: api.JobItem{ID: fmt.Sprintf("job_%d", len(f.jobs)+1), Status: api.JobQueued, RetryOf: &old.ID, CreatedAt: time.Now()}}
	f.jobs[job.ID] = job
	respond(w, 201, job)
}

func (f *fakeServer) prioritize(w http.ResponseWriter, r *http.Request) {
	var change api.JobChange
	_ = json.Unmarshal(f.note(r), &change)
	job := f.jobs[r.PathValue("id")]
	if job == nil || job.Status != api.JobQueued {
		refuse(w, 409, api.CodeJobNotQueued, "The job has left the queue.")
		return
	}
	job.Priority = change.Priority
	respond(w, 200, job)
}

func (f *fakeServer) revoke(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != "dev_1" {
		refuse(w, 404, api.CodeNotFound, "There is no such device.")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (f *fakeServer) pair(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var request api.PairRequest
	_ = json.Unmarshal(f.note(r), &request)
	if request.Code != "K7QD-2MXP" {
		refuse(w, 403, api.CodeBadCode, "The code is wrong.")
		return
	}
	respond(w, 201, api.PairAnswer{DeviceID: "dev_1", DeviceToken: "rmd_token"})
}

var fakeServices = api.List[api.Service]{Items: []api.Service{{
	Name: "ffmpeg.transcode", Title: "Transcode", DevicesOnline: 2,
	Params: json.RawMessage(`{"type":"object","properties":{"width":{"type":"integer","description":"pixels"},"fps":{"type":["number","null"]},` +
		`"burn_timecode":{"type":"boolean","default":false},"quality":{"type":"integer","minimum":1,"maximum":100},"fit":{"type":"string","enum":["contain","cover"],"default":"contain"},"note":{"type":"string"}}}`),
	Presets: []api.Preset{
		{Name: "web-1080p", Title: "H.264 up to 1080p", Params: json.RawMessage(`{"height":1080}`)},
		{Name: "fails"},
		{Name: "is-cancelled"},
		{Name: "runs"},
		{Name: "impossible"},
	},
}, {Name: "mixed", Title: "Goes as the file's name says", DevicesOnline: 1, Params: json.RawMessage(`{}`)}, {Name: "idle.service", Title: "No device has it", Params: json.RawMessage(`{}`), Presets: []api.Preset{{Name: "late"}}}}}

var fakeDevices = api.List[api.Device]{Items: []api.Device{{
	ID: "dev_1", Name: "studio\x1b[31m-1", State: "online", Slots: new(2), Busy: 1, Services: []string{"ffmpeg.transcode"}, Tags: []string{"hdr", "b"},
}, {ID: "dev_3", Name: "twin", State: "offline"}, {ID: "dev_4", Name: "twin", State: "offline"}, {ID: "dev_5", Name: "solo", State: "offline"}}}

var fakeDeliveries = api.List[api.Delivery]{Items: []api.Delivery{{
	ID: "whd_1", JobID: "job_1", URL: "https://hook\u202e.test/x?token=hush", Type: "job.failed", State: "failed", Tries: 10,
	LastStatus: new(500), LastError: new("the receiver answered 500"), CreatedAt: time.Now(),
}, {ID: "whd_0", JobID: "job_0", URL: "https://hook.test/", Type: "job.succeeded", State: "delivered", Tries: 1, LastStatus: new(204), CreatedAt: time.Now()}}}
