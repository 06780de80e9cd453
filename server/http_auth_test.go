package server

import (
	"strings"
	"testing"

	"rendermac/api"
)

// Every row of the table is held to its own scope.
func TestHTTP_EveryRouteMindsItsScope(t *testing.T) {
	h := mustServe(t)
	keys := []struct{ scope, key string }{{scopeRead, h.read}, {scopeSubmit, h.submit}, {scopeAdmin, h.admin}}
	path := strings.NewReplacer("{id}", "x_0", "{n}", "1")
	for _, r := range h.srv.table() {
		if r.scope == scopeNone {
			continue
		}
		no := h.do(r.method, path.Replace(r.path), "", nil)
		no.refuses(401, "unauthenticated")
		if !strings.HasPrefix(no.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s %s: 401 without a challenge", r.method, r.path)
		}
		for _, k := range keys {
			got := h.do(r.method, path.Replace(r.path), k.key, nil)
			if small := rank[k.scope] < rank[r.scope]; small != (got.StatusCode == 403) || got.StatusCode == 401 {
				t.Errorf("%s %s with a key of scope %s: %d", r.method, r.path, k.scope, got.StatusCode)
			}
		}
	}
}

func TestHTTP_KeysThatAreNone(t *testing.T) {
	h := mustServe(t)
	for _, key := range []string{"rm_unknown", h.revoked, "rmd_devicetoken", " "} {
		h.get("/v1/jobs", key).refuses(401, "unauthenticated")
	}
	h.do("GET", "/v1/jobs", "", nil, "Authorization", "Basic "+h.admin).refuses(401, "unauthenticated")
	h.do("GET", "/v1/jobs", "", nil, "Authorization", "bearer "+h.admin).is(200)
	if strings.Contains(h.log.String(), h.admin) {
		t.Error("the log has a key")
	}
}

// What belongs to another account is answered like what does not exist.
func TestHTTP_OtherAccountsThingsDoNotExist(t *testing.T) {
	h := mustServe(t)
	job := h.mustSubmit(h.submit)
	upload := *job.Inputs[0].UploadID
	other := h.otherAccountSubmit
	asked := []struct{ method, path string }{
		{"GET", "/v1/jobs/" + job.ID},
		{"POST", "/v1/jobs/" + job.ID + "/cancel"},
		{"GET", "/v1/jobs/" + job.ID + "/output"},
		{"GET", "/v1/jobs/" + job.ID + "/attempts/1/log"},
		{"GET", "/v1/jobs/" + job.ID + "/events"},
		{"GET", "/v1/uploads/" + upload},
		{"POST", "/v1/uploads/" + upload + "/complete"},
	}
	for _, a := range asked {
		missing := strings.NewReplacer(job.ID, "job_0", upload, "upl_0").Replace(a.path)
		got, want := h.do(a.method, a.path, other, nil), h.do(a.method, missing, other, nil)
		got.refuses(404, "not_found")
		if strings.ReplaceAll(string(got.body), job.ID, "job_0") != string(want.body) {
			t.Errorf("%s %s tells that it exists: %s, not %s", a.method, a.path, got.body, want.body)
		}
	}
	if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs", other).is(200)).Items); n != 0 {
		t.Errorf("another account lists %d jobs", n)
	}
	if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs", h.otherAdmin).is(200)).Items); n != 1 {
		t.Errorf("an admin lists %d jobs, want all", n)
	}
	h.get("/v1/jobs/"+job.ID, h.otherAdmin).is(200)
	h.post("/v1/jobs", other, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{UploadID: &upload}}}).refuses(422, "invalid_request")
	h.post("/v1/jobs", other, api.JobRequest{Service: "ffmpeg.transcode", Inputs: []api.Input{{JobID: &job.ID}}}).refuses(422, "invalid_request")
}
