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
