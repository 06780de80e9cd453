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

// mustServeS3 is a server that keeps its files in a bucket.
func mustServeS3(t *testing.T, change ...func(*Options)) (*httpServer, *artifacttest.S3Server) {
	s3 := artifacttest.StartS3(t)
	options := s3.Options(t)
	var h *httpServer
	options.Now = func() time.Time { return h.clock.Now() }
	bucket, err := artifact.OpenS3(options)
	if err != nil {
		t.Fatal(err)
	}
	h = mustServe(t, append(change, func(o *Options) { o.Artifacts, o.Blobs, o.PartBytes = bucket, nil, artifact.MinS3Part })...)
	h.mustStart()
	return h, s3
}

// mustUploadToS3 is a complete upload of a real clip.
func (h *httpServer) mustUploadToS3() string {
	h.Helper()
	film := clip(h).input
	made := into[api.UploadCreated](h.post("/v1/uploads", h.submit, api.UploadRequest{Name: "clip.mov", Bytes: int64(len(film))}).is(201))
	h.sendTo(made.Parts[0].URL, made.Parts[0].Headers, film)
	h.post("/v1/uploads/"+made.ID+"/complete", h.submit, nil).is(200)
	return made.ID
}

// mustRunOf submits a job of an upload, and takes its offer on a Mac of its own.
func (h *httpServer) mustRunOf(upload string) *run {
	h.Helper()
	m := h.mustMac(1)
	h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(clipParams), Inputs: []api.Input{{UploadID: &upload}}}).is(201)
	return m.mustOffer()
}

// An S3 server is killed and started again: a run that is uploading waits, and
// so does a verification; both end right, in their first attempt.
func TestOutage_AnS3ServerIsKilledAndStartedAgain(t *testing.T) {
	h, s3 := mustServeS3(t)
	upload := h.mustUploadToS3()
	verified, uploaded := h.mustRunOf(upload), h.mustRunOf(upload)
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
