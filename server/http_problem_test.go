package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"rendermac/api"

	"github.com/danielgtaylor/huma/v2"
)

func TestHTTP_EveryErrorIsAProblem(t *testing.T) {
	h := mustServe(t)
	h.get("/v1/nothing", h.admin).refuses(404, "not_found")
	h.get("/index.php", "").refuses(404, "not_found")
	h.get("/v1/jobs/", h.admin).refuses(404, "not_found")
	h.get("/v1/jobs/job_0", h.admin).refuses(404, "not_found")
	h.get("/v1/uploads/upl_0", h.admin).refuses(404, "not_found")
	h.get("/v1/devices/dev_0", h.admin).refuses(404, "not_found")
	h.do("DELETE", "/v1/devices/dev_0", h.admin, nil).refuses(404, "not_found")
	h.post("/v1/jobs/job_0/cancel", h.admin, nil).refuses(404, "not_found")
	h.get("/v1/blobs/outputs/x?sig=x", "").refuses(403, "bad_signature")

	no := h.do("PUT", "/v1/jobs", h.admin, "{}")
	no.refuses(405, "method_not_allowed")
	if allow := no.Header.Get("Allow"); !strings.Contains(allow, "GET") || !strings.Contains(allow, "POST") {
		t.Errorf("405 names %q as what it takes", allow)
	}
	h.do("POST", "/v1/jobs", h.admin, "{}", "Content-Type", "text/plain").refuses(415, "unsupported_media_type")
	h.do("POST", "/v1/jobs", h.admin, "a=1", "Content-Type", "application/x-www-form-urlencoded").refuses(415, "unsupported_media_type")
	h.do("POST", "/v1/jobs", h.admin, "{}", "Content-Type", "application/json; charset=utf-8").refuses(422, "invalid_request")
	h.get("/v1/jobs?limit=501", h.admin).refuses(422, "invalid_request")
	h.get("/v1/jobs?limit=x", h.admin).refuses(422, "invalid_request")
	h.get("/v1/jobs?statsu=queued", h.admin).refuses(422, "invalid_request")
	h.get("/v1/jobs?status=lost", h.admin).refuses(422, "invalid_request")
}

func TestHTTP_BodyLimit(t *testing.T) {
	h := mustServe(t)
	fits := `{"name":"a","bytes":0}` + strings.Repeat(" ", maxBody-len(`{"name":"a","bytes":0}`))
	h.post("/v1/uploads", h.submit, fits).is(201)
	h.post("/v1/uploads", h.submit, fits+" ").refuses(413, "body_too_large")
}

func TestHTTP_BadJSON(t *testing.T) {
	h := mustServe(t)
	cases := map[string]string{
		"nothing":                        ``,
		"half an object":                 `{"name":`,
		"two values":                     `{"name":"a","bytes":1} {}`,
		"a duplicate key":                `{"name":"a","bytes":1,"name":"b"}`,
		"a duplicate key, escaped":       `{"name":"a","bytes":1,"n\u0061me":"b"}`,
		"a key beside its variant":       `{"name":"a","bytes":1,"NAME":"b"}`,
		"a key in another case":          `{"Name":"a","bytes":1}`,
		"a key in a case of other lands": "{\"name\":\"a\",\"bytes\":1,\"part\u017f\":[]}",
		"a nested key in another case":   `{"name":"a","bytes":1,"parts":[{"Number":1,"bytes":1,"sha256":""}]}`,
		"a nested duplicate":             `{"name":"a","bytes":1,"parts":[{"number":1,"number":2}]}`,
		"deep nesting":                   `{"name":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
		"a number out of range":          `{"name":"a","bytes":1e999}`,
		"no UTF-8":                       "{\"name\":\"\xff\",\"bytes\":1}",
	}
	for name, body := range cases {
		t.Run(name, func(t *testing.T) {
			h.post("/v1/uploads", h.submit, body).refuses(400, "bad_json")
		})
	}
	h.post("/v1/jobs", h.submit, `{"service":"s","inputs":[],"labels":{"a":"1","A":"2"}}`).refuses(400, "bad_json")
	h.post("/v1/jobs", h.submit, `{"service":"s","inputs":[],"labels":{"Client":"1"}}`).refuses(422, "invalid_request")
	h.post("/v1/pairings", h.admin, `{"name":"a","name":"b"}`).refuses(400, "bad_json")
}

func TestHTTP_FaultsDoNotRepeatTheValue(t *testing.T) {
	h := mustServe(t)
	const secret = "s3cretvalue"
	long := strings.Repeat(secret, 30)
	bodies := []string{
		`{"name":7,"bytes":"` + secret + `"}`,
		`{"name":"a","bytes":1,"<` + secret + `>":1}`,
		`{"name":"a","bytes":1,"` + long + `":1}`,
		`{"name":"a","bytes":1e3}`,
		`{"name":"` + long + `","bytes":-1}`,
		`"` + secret + `"`,
		`{"name":"a","bytes":1,"sha256":"` + secret + `"}`,
	}
	for _, body := range bodies {
		r := h.post("/v1/uploads", h.submit, body)
		p := r.refuses(422, "invalid_request")
		if len(p.Errors) == 0 || strings.Contains(string(r.body), secret) || strings.Contains(string(r.body), "1e3") {
			t.Errorf("%s was answered with %s", body, r.body)
		}
	}
}

func TestHTTP_FaultsSayWhere(t *testing.T) {
	h := mustServe(t)
	p := h.post("/v1/uploads", h.submit, `{"bytes":-1,"colour":"red","parts":[{"number":0,"bytes":1}]}`).refuses(422, "invalid_request")
	var at []string
	for _, f := range p.Errors {
		at = append(at, f.Location)
	}
	slices.Sort(at)
	want := []string{"bytes", "colour", "name", "parts[0].number", "parts[0].sha256"}
	if !slices.Equal(at, want) {
		t.Errorf("got faults at %q, want %q", at, want)
	}
}

func TestHTTP_PanicIsAProblemAndALogLine(t *testing.T) {
	h := mustServe(t, func(o *Options) { o.Artifacts = nil }) // a nil store makes the handler panic
	h.post("/v1/uploads", h.submit, `{"name":"s3cret.mov","bytes":1}`).refuses(500, "internal_error")
	if text := h.log.String(); !strings.Contains(text, "a handler panicked") || !strings.Contains(text, "route=/v1/uploads") || strings.Contains(text, "s3cret") {
		t.Errorf("the log has %s", text)
	}
}

func TestHTTP_StoreThatCannotBeUsed(t *testing.T) {
	h := mustServe(t)
	h.db.Close()
	r := h.get("/v1/jobs", h.admin)
	r.refuses(503, "store_unavailable")
	if r.Header.Get("Retry-After") == "" || strings.Contains(string(r.body), "sql") {
		t.Errorf("503 came with %v: %s", r.Header, r.body)
	}
	h.get("/readyz", "").degraded("database")
	h.get("/healthz", "").is(200)
}

func TestHTTP_Health(t *testing.T) {
	h := mustServe(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := string(h.get(path, "").is(200).body); got != "{\"status\":\"ok\"}\n" {
			t.Errorf("%s answers %q", path, got)
		}
	}
}

// huma's own refusals must never be anything but ours, also those it has not
// been seen to give.
func TestHTTP_HumaErrorsAreOurs(t *testing.T) {
	for _, status := range []int{400, 404, 406, 408, 413, 415, 422, 500} {
		err := huma.NewError(status, "text", context.Canceled)
		r, ok := err.(*refusal)
		if !ok || r.Code == "" || r.Title != http.StatusText(r.Status) || strings.Contains(r.Detail, "text") {
			t.Errorf("%d becomes %#v", status, err)
		}
	}
	if got := huma.NewError(422, "", notFound("job")); got.GetStatus() != 404 {
		t.Errorf("a refusal among faults is answered with %d", got.GetStatus())
	}
	if _, ok := huma.NewError(0, "").(*api.Error); !ok {
		t.Error("huma does not learn the schema of a problem")
	}
}
