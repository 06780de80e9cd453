package server

import (
	"encoding/json"
	"testing"

	"rendermac/agentproto"
	"rendermac/api"
)

// A file that the server cannot read is shown as the agent's ffprobe says, and
// one that it can read as it is, whatever an agent says.
func TestInputMedia_TheServersReadingCounts(t *testing.T) {
	h := mustStudio(t)
	lie := json.RawMessage(`{"format":"matroska,webm","duration_s":2.5,"streams":[{"kind":"video","codec":"vp9","width":320,"height":180,"pixel_aspect":1}]}`)
	for want, content := range map[string][]byte{"agent": noise(100), "server": clip(t).input} {
		u := h.mustUpload(h.submit, "clip.mkv", content)
		j := into[api.Job](h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(clipParams), Inputs: []api.Input{{UploadID: &u.ID}}}).is(201))
		if known := j.InputMedia[0] != nil; known != (want == "server") {
			t.Fatalf("before any run: %+v", j.InputMedia[0])
		}
		r := h.mustMac(1).mustOffer()
		p := r.progress("running")
		p.InputMedia = []agentproto.RawJSON{agentproto.RawJSON(lie)}
		r.say(p)
		hear[agentproto.ProgressOK](r.mac)
		got := into[api.Job](h.get("/v1/jobs/"+j.ID, h.read).is(200)).InputMedia[0]
		if got == nil || got.ReadBy != want || (got.Streams[0].Codec == "vp9") != (want == "agent") || got.Brands == nil {
			t.Errorf("want the %s's word, got %+v", want, got)
		}
		r.cancel()
	}
}
