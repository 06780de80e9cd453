package server

import (
	"bytes"
	"compress/gzip"
	"io"
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
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"} {
		if page.Header.Get(name) != want || style.Header.Get(name) != want {
			t.Errorf("%s is %q, and of the style %q", name, page.Header.Get(name), style.Header.Get(name))
		}
	}
	if kind := style.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/css") {
		t.Errorf("the style is %q", kind)
	}
	for _, none := range []string{"/assets/web.go", "/assets/css/none.css", "/assets/../web.go", "/assets/templates/frame.html"} {
		h.get(none, "").refuses(404, "not_found")
	}
}

func TestDashboard_IsSentCompressed(t *testing.T) {
	h := mustServe(t)
	const style = "/assets/css/app.css"
	plain := h.get(style, "").is(200)
	for _, path := range []string{style, "/"} {
		got := h.do("GET", path, h.admin, nil, "Accept-Encoding", "gzip").is(200)
		if got.Header.Get("Content-Encoding") != "gzip" || got.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s came with %v", path, got.Header)
		}
	}
	packed := h.do("GET", style, "", nil, "Accept-Encoding", "gzip")
	unpacked, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil || !bytes.Equal(text, plain.body) || len(packed.body)*2 > len(plain.body) {
		t.Errorf("%d bytes of %d, %v", len(packed.body), len(plain.body), err)
	}
	h.do("GET", style, "", nil, "If-None-Match", packed.Header.Get("Etag"), "Accept-Encoding", "gzip").is(304)
}

func TestDashboard_AMistypedAddressIsAPageThatSaysSo(t *testing.T) {
	h := mustServe(t)
	for _, path := range []string{"/nothing", "/settings/nope"} {
		got := h.do("GET", path, h.admin, nil, "Accept", "text/html,*/*").is(404)
		if text := string(got.body); !strings.Contains(text, "There is no such page.") || !strings.Contains(text, `href="/jobs"`) {
			t.Errorf("%s is answered with %s", path, text)
		}
		h.do("GET", path, "", nil, "Accept", "text/html").is(303)
		h.get(path, h.admin).refuses(404, "not_found")
	}
	h.do("GET", "/v1/nothing", h.admin, nil, "Accept", "text/html").refuses(404, "not_found")
}
