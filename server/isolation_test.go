package server

import (
	"strings"
	"testing"

	"rendermac/api"
	"rendermac/store/storetest"
)

// isolated says how each route keeps one account's things from another's keys.
// Routes for admins only need no entry: they are 403, which is looked at too.
var isolated = map[string]string{
	"createUpload": "makes", "createJob": "refers", "createBatch": "refers",
	"getUpload": "owned", "signParts": "owned", "completeUpload": "owned", "getJob": "owned", "cancelJob": "owned", "retryJob": "owned", "changeJob": "owned",
	"getOutput": "owned", "getInput": "owned", "getLog": "owned", "listJobEvents": "owned", "getJournal": "owned",
	"listJobs": "lists", "listEvents": "lists", "getStats": "lists",
	"listServices": "shared", "listDevices": "shared", "getDevice": "shared",
	"putBlob": "open", "getBlob": "open", "headBlob": "open", "pair": "open", "createSignIn": "makes", "signIn": "open", "signOut": "open", "showSignIn": "open", "connect": "open", "getAsset": "open",
	"showOverview": "pages", "showJobs": "pages", "showJob": "pages", "showNew": "pages", "showDevices": "pages", "showSettings": "pages", "showJournal": "pages",
	"getOpenAPI": "open", "live": "open", "ready": "open", "getMetrics": "open",
}

// studio is what one account has: a result with its log, a job in the queue, one
// under way, and an upload.
type studio struct {
	*httpServer
	ids    map[string]string // for the document's examples
	queued api.Job
	secret []string // ids and names that no other account may ever see
}

func (h *httpServer) mustBusyStudio() *studio {
	h.Helper()
	done := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.Labels = map[string]string{"client": "s3cretclient"} })
	h.mustSucceed([]byte("x"))
	queued := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.OutputName = ptr("s3cretname.mp4") })
	running := h.mustSubmit(h.submit, func(r *api.JobRequest) { r.Priority = ptr(100) })
	offer := storetest.MustLease(h, h.db, storetest.MustDevice(h, h.db))
	open := into[api.UploadCreated](h.post("/v1/uploads", h.submit, `{"name":"s3cretname.mov","bytes":1}`).is(201))
	return &studio{
		httpServer: h, queued: queued,
		ids:    map[string]string{exampleIDs["jobs"]: done.ID, exampleIDs["uploads"]: open.ID, exampleIDs["accounts"]: h.account},
		secret: []string{done.ID, queued.ID, running.ID, offer.AttemptID, open.ID, *done.Inputs[0].UploadID, h.account, "s3cret"},
	}
}

// Another account's key can neither see nor touch anything, over the whole route
// table, whatever its scope.
func TestIsolation_EveryRoute(t *testing.T) {
	h := mustServe(t)
	s := h.mustBusyStudio()
	before := s.everything()
	for _, r := range h.srv.table() {
		how, there := isolated[r.id]
		if !there && r.scope != scopeAdmin {
			t.Errorf("%s %s (%s) is not in the isolation table: say there how it keeps an account's things from another's keys", r.method, r.path, r.id)
			continue
		}
		for scope, key := range map[string]string{scopeRead: h.otherRead, scopeSubmit: h.otherAccountSubmit} {
			s.isKeptFrom(r, how, scope, key)
		}
	}
	if after := s.everything(); after != before {
		t.Errorf("another account's keys have changed something:\n%s\nbefore:\n%s", after, before)
	}
}

func (s *studio) isKeptFrom(r route, how, scope, key string) {
	s.Helper()
	ask := func(ids map[string]string) reply {
		path, body := r.path, string(exampleBodies[r.id])
		path = strings.NewReplacer("{n}", "1").Replace(path)
		for kind, example := range exampleIDs {
			path = strings.ReplaceAll(path, "/"+kind+"/{id}", "/"+kind+"/"+example)
		}
		for example, real := range ids {
			path, body = strings.ReplaceAll(path, example, real), strings.ReplaceAll(body, example, real)
		}
		if body == "" {
			return s.do(r.method, path, key, nil)
		}
		return s.do(r.method, path, key, body)
	}
	got := ask(s.ids)
	switch {
	case how == "open", how == "makes", how == "shared":
	case rank[scope] < rank[r.scope]:
		got.refuses(403, "forbidden")
	case how == "refers":
		got.refuses(422, "invalid_request")
	case how == "owned":
		p, none := got.refuses(404, "not_found"), ask(nil).refuses(404, "not_found")
		if p.Detail != none.Detail {
			s.Errorf("%s tells that it exists: %q, not %q", r.id, p.Detail, none.Detail)
		}
	case how == "lists":
		got.is(200)
	}
	if how == "open" {
		return
	}
	for _, secret := range s.secret {
		if asked := strings.Contains(string(exampleBodies[r.id]), secret); !asked && strings.Contains(string(got.body), secret) {
			s.Errorf("%s shows a key of scope %s of another account %q: %s", r.id, scope, secret, got.body)
		}
	}
}

// everything is how the studio's things stand; not the signed URLs, which are new
// each time.
func (s *studio) everything() string {
	s.Helper()
	var all strings.Builder
	for _, id := range s.secret[:3] {
		all.Write(s.get("/v1/jobs/"+id, s.admin).is(200).body)
	}
	all.Write(s.get("/v1/jobs?limit=500", s.submit).is(200).body)
	return all.String()
}

// What is queued, and what runs, can be cancelled by its own account alone; here
// for every status that another's key could meet.
func TestIsolation_InEveryStatus(t *testing.T) {
	h := mustServe(t)
	s := h.mustBusyStudio()
	for _, id := range s.secret[:3] {
		for _, ask := range []struct{ method, path string }{
			{"GET", ""}, {"POST", "/cancel"}, {"GET", "/output"}, {"GET", "/inputs/1"}, {"GET", "/attempts/1/log"}, {"POST", "/retry"}, {"GET", "/events"},
		} {
			h.do(ask.method, "/v1/jobs/"+id+ask.path, h.otherAccountSubmit, nil).refuses(404, "not_found")
		}
		h.get("/v1/jobs/"+id, h.otherAdmin).is(200)
	}
	if n := len(into[api.List[api.JobItem]](h.get("/v1/jobs", h.otherAdmin).is(200)).Items); n != 3 {
		t.Errorf("an admin of another account lists %d jobs, want all", n)
	}
}
