package server

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
)

// Every route that is served is described, and none that is not.
func TestOpenAPI_HasEveryRoute(t *testing.T) {
	h := mustServe(t)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(h.get("/v1/openapi.json", "").is(200).body, &doc); err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for path, methods := range doc.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+echoPath.Replace(path)] = true
		}
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") || len(described) != len(h.srv.table()) {
		t.Errorf("OpenAPI %s describes %d routes, the table has %d", doc.OpenAPI, len(described), len(h.srv.table()))
	}
	for _, r := range h.srv.handler.(*echo.Echo).Routes() {
		if !described[r.Method+" "+r.Path] {
			t.Errorf("%s %s is served and not described", r.Method, r.Path)
		}
		delete(described, r.Method+" "+r.Path)
	}
	for route := range described {
		t.Errorf("%s is described and not served", route)
	}
}

// Every way in which an object is answered stands in the document.
func TestOpenAPI_HasEveryAnswerOfABlob(t *testing.T) {
	h := mustServe(t)
	j := h.mustSubmit(h.submit)
	h.mustSucceed([]byte("0123456789"))
	at := h.get("/v1/jobs/"+j.ID+"/output", h.read).is(302).Header.Get("Location")
	path := h.mustDocument().Paths.Find("/v1/blobs/{key}")
	etag := h.get(at, "").is(200).Header.Get("ETag")
	for _, c := range []struct {
		header, value string
		status        int
	}{
		{"Range", "bytes=2-4", 206},
		{"Range", "bytes=0-1,4-5", 206},
		{"Range", "bytes=99-", 416},
		{"If-None-Match", etag, 304},
		{"If-Match", `"another"`, 412},
		{"If-Range", etag, 200},
	} {
		h.isDescribed(path.Get, h.do("GET", at, "", nil, c.header, c.value).is(c.status))
		h.isDescribed(path.Head, h.do("HEAD", at, "", nil, c.header, c.value).is(c.status))
		if path.Get.Parameters.GetByInAndName("header", c.header) == nil {
			t.Errorf("the header %s is not described", c.header)
		}
	}
}
