package server

import (
	"strings"
	"testing"

	"rendermac/api"
	"rendermac/store/storetest"
)

// The document is valid, and what the server answers is what it describes.
func TestOpenAPI_IsValidAndTrue(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.PartBytes, o.Pricing = 2, map[string]int64{"ffmpeg.transcode": 1} })
	doc := h.mustDocument()
	job := h.mustSubmit(h.submit, func(r *api.JobRequest) {
		r.Requires, r.Labels, r.WebhookURL = &api.Requires{}, map[string]string{"a": "b"}, ptr("http://x.test")
	})
	other := h.mustSubmit(h.submit)
	h.mustSucceed([]byte("x"))
	device := storetest.MustDevice(t, h.db).DeviceID
	hook := h.delivery(job.ID).ID
	created := h.post("/v1/uploads", h.submit, `{"name":"a","bytes":9}`)
	upload := into[api.UploadCreated](created).ID
	paths := strings.NewReplacer(hook, "{id}", job.ID, "{id}", other.ID, "{id}", device, "{id}", upload, "{id}", *job.Inputs[0].UploadID, "{id}")
	for _, r := range []reply{
		created, h.get("/v1/uploads/"+upload, h.submit), h.post("/v1/uploads/"+*job.Inputs[0].UploadID+"/complete", h.submit, nil),
		h.post("/v1/uploads/"+upload+"/complete", h.submit, nil), h.post("/v1/uploads", h.submit, "{}"),
		h.post("/v1/jobs", h.submit, api.JobRequest{Service: "ffmpeg.transcode", Inputs: job.Inputs}),
		h.post("/v1/jobs/batch", h.submit, api.BatchRequest{Jobs: []api.JobRequest{{Service: "ffmpeg.transcode", Inputs: job.Inputs}}}),
		h.do("PATCH", "/v1/jobs/"+other.ID, h.submit, `{"priority":1}`), h.post("/v1/jobs/"+job.ID+"/retry", h.submit, nil),
		h.get("/v1/jobs", h.read), h.get("/v1/jobs/"+job.ID, h.read), h.post("/v1/jobs/"+other.ID+"/cancel", h.submit, nil),
		h.get("/v1/events", h.admin), h.get("/v1/jobs/"+job.ID+"/events", h.read),
		h.get("/v1/services", h.read), h.get("/v1/devices", h.read), h.get("/v1/devices/"+device, h.read), h.get("/v1/devices/"+device, h.admin),
		h.get("/v1/webhooks/deliveries", h.admin), h.post("/v1/webhooks/deliveries/"+hook+"/redeliver", h.admin, nil),
		h.post("/v1/pairings", h.admin, nil), h.post("/v1/provider/pair", "", `{"code":"x"}`), h.get("/healthz", ""), h.get("/readyz", ""),
		h.get("/v1/openapi.json", ""),
	} {
		op := doc.Paths.Value(paths.Replace(r.Request.URL.Path)).GetOperation(r.Request.Method)
		h.isDescribed(op, r)
	}
}
