package server

import (
	"strings"
	"testing"

	"rendermac/web"
)

func TestDashboard_LeadsWhoeverHasNoSessionToSignIn(t *testing.T) {
	h := mustServe(t)
	for from, to := range map[string]string{"/": "%2F", "/jobs?status=failed": "%2Fjobs%3Fstatus%3Dfailed"} {
		if got := h.get(from, "").is(303).Header.Get("Location"); got != "/sign-in?next="+to {
			t.Errorf("from %s to %q", from, got)
		}
	}
}

func TestDashboard_LoadsNothingFromElsewhere(t *testing.T) {
	h := mustServe(t)
	page := h.get("/", h.admin).is(200)
	if got := page.Header.Get("Content-Security-Policy"); got != web.CSP("") || strings.Contains(got, "unsafe") {
		t.Errorf("CSP %q", got)
	}
	if text := string(page.body); strings.Contains(text, "style=") || strings.Contains(text, "//") && strings.Contains(text, "src=\"http") {
		t.Errorf("page %s", text)
	}
	style := h.get("/assets/css/app.css", "").is(200)
	if kind := style.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/css") {
		t.Errorf("the style is %q", kind)
	}
	for _, none := range []string{"/assets/web.go", "/assets/css/none.css", "/assets/../web.go", "/assets/templates/frame.html"} {
		h.get(none, "").refuses(404, "not_found")
	}
}
