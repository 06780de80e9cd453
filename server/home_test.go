package server

import (
	"strings"
	"testing"

	"rendermac/web"
)

func TestHome_LoadsNothingFromElsewhere(t *testing.T) {
	h := mustServe(t)
	page := h.get("/", "").is(200)
	if got := page.Header.Get("Content-Security-Policy"); got != web.CSP {
		t.Errorf("CSP %q", got)
	}
	if text := string(page.body); !strings.Contains(text, "version test") || strings.Contains(text, "<script") || strings.Contains(text, "style=") {
		t.Errorf("page %s", text)
	}
	style := h.get("/assets/app.css", "").is(200)
	if kind := style.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/css") {
		t.Errorf("the style is %q", kind)
	}
	h.get("/assets/web.go", "").refuses(404, "not_found")
}
