package qualify

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// picky is a reverse proxy that takes no body over a limit, as many do out of
// the box: it answers 413 in words of its own.
func picky(t testing.TB, to string, limit int64) (address string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.As(err, new(*http.MaxBytesError)) {
				tooLarge(w)
				return
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit {
			tooLarge(w)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func tooLarge(w http.ResponseWriter) {
	http.Error(w, "<html><h1>413 Request Entity Too Large</h1></html>", http.StatusRequestEntityTooLarge)
}

const mib = 1 << 20

// A proxy before the server refuses bodies over 1 MiB: with parts of 1 MiB films
// of any size pass it both ways, and the agent's socket as well.
func TestHaul_ThroughAPickyProxy(t *testing.T) {
	t.Parallel()
	h := newHaul(t, shelves[0], 5*mib+1, mib)
	front := picky(t, h.url, mib)
	h.clients, h.macs = newCable(t, h.meter, strings.TrimPrefix(front, "http://")), newCable(t, h.meter, strings.TrimPrefix(front, "http://"))
	h.pairMac()
	h.download(h.run(h.upload()))
}

// With longer parts the client does not try for long, and says what to set.
func TestHaul_APickyProxyIsNamed(t *testing.T) {
	t.Parallel()
	h := newHaul(t, shelves[0], 5*mib, 64*mib)
	h.clients = newCable(t, h.meter, strings.TrimPrefix(picky(t, h.url, mib), "http://"))
	p := h.try("submit", h.film, "--preset", "web-480p")
	if p.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(p.said(), "store.part_bytes") {
		t.Fatalf("%s: %s", p.cmd.ProcessState, p.said())
	}
	t.Log(p.said())
}
