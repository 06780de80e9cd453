package server

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
	"rendermac/fence"
)

// sendTo sends bytes to a bucket's URL, with the headers that are signed.
func (h *httpServer) sendTo(url string, headers map[string]string, body []byte) {
	h.Helper()
	r, err := http.NewRequest(http.MethodPut, url, bytes.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	h.send(r).is(200)
}

// An S3 server is killed and started again: a run that is uploading waits, and
// so does a verification; both end right, in their first attempt.
func TestOutage_AnS3ServerIsKilledAndStartedAgain(t *testing.T) {
	s3 := artifacttest.StartS3(t)
	options := s3.Options(t)
	var h *httpServer
	options.Now = func() time.Time { return h.clock.Now() }
	bucket, err := artifact.OpenS3(options)
	if err != nil {
		t.Fatal(err)
	}
	h = mustServe(t, func(o *Options) { o.Artifacts, o.Blobs, o.PartBytes = bucket, nil, artifact.MinS3Part })
	h.mustStart()
	film := clip(t).input
	made := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "clip.mov", Bytes: int64(len(film))}).is(201))
	h.sendTo(made.Parts[0].URL, made.Parts[0].Headers, film)
	h.post("/v1/uploads/"+made.ID+"/complete", h.submit, nil).is(200)
	job := func() *run {
		m := h.mustMac(1)
		h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(clipParams), Inputs: []api.Input{{UploadID: &made.ID}}}).is(201)
		return m.mustOffer()
	}
	verified, uploaded := job(), job()
	put := func(r *run, g *agentproto.UploadGrant) {
		for _, p := range g.Parts {
			h.sendTo(p.URL, p.Headers, r.output)
		}
	}
	verified.say(verified.uploadMessage())
	put(verified, hear[agentproto.UploadGrant](verified.mac))

	s3.Kill()
	verified.commit()
	for _, m := range []agentproto.Message{uploaded.uploadMessage(), &agentproto.Inputs{IDs: uploaded.IDs}} {
		uploaded.say(m)
		if busy := hear[agentproto.Error](uploaded.mac); busy.Code != "busy" || busy.RetryAfterS == nil {
			t.Fatalf("%+v", busy)
		}
	}
	h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "b.mov", Bytes: 5}).refuses(503, "store_unavailable")
	h.get("/readyz", "").degraded("artifact store")
	verified.stands(fence.JobVerifying, fence.AttemptCommitting)

	s3.Start(t)
	h.get("/readyz", "").is(200)
	hear[agentproto.CommitOK](verified.mac)
	for {
		uploaded.say(uploaded.uploadMessage())
		answer, err := uploaded.next()
		if err != nil {
			t.Fatal(err)
		}
		if g, granted := answer.(*agentproto.UploadGrant); granted {
			put(uploaded, g)
			break
		}
	}
	uploaded.commit()
	hear[agentproto.CommitOK](uploaded.mac)
	for _, r := range []*run{verified, uploaded} {
		if j := r.stands(fence.JobSucceeded, fence.AttemptSucceeded); len(j.Attempts) != 1 {
			t.Errorf("%d attempts", len(j.Attempts))
		}
	}
}
