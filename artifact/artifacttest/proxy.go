package artifacttest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// Proxy stands before a server and passes everything on, but for what a test has
// it do. Signatures stay good: it keeps the Host it was asked for.
type Proxy struct {
	URL string

	mu   sync.Mutex
	seen []*http.Request
	meet func(n int, r *http.Request) Fate
}

// Fate is what becomes of a request.
type Fate int

// The fates.
const (
	Passes    Fate = iota
	Lost           // it does not arrive, and the connection breaks
	Unheard        // it arrives; the answer does not
	Broken         // half of the answer's body comes
	Unknown        // 501
	Overtaxed      // 503
)

// StartProxy starts a proxy that ends with the test.
func StartProxy(tb testing.TB, to string) *Proxy {
	tb.Helper()
	target, err := url.Parse(to)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{}
	server := httptest.NewServer(p.handler(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // the server behind it is away, so is it
		},
	}))
	tb.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Meet decides what becomes of the requests from now on; n counts them from 1.
func (p *Proxy) Meet(decide func(n int, r *http.Request) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen, p.meet = nil, decide
}

// Seen are the requests since the last Meet.
func (p *Proxy) Seen() []*http.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *Proxy) decide(r *http.Request) Fate {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, r)
	if p.meet == nil {
		return Passes
	}
	return p.meet(len(p.seen), r)
}

func (p *Proxy) handler(onward http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch p.decide(r) {
		case Passes:
			onward.ServeHTTP(w, r)
		case Lost:
			panic(http.ErrAbortHandler)
		case Unheard:
			_, _ = io.Copy(io.Discard, record(onward, r).Body)
			panic(http.ErrAbortHandler)
		case Broken:
			answer := record(onward, r)
			for name, values := range answer.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
			panic(http.ErrAbortHandler)
		case Unknown:
			refuse(w, http.StatusNotImplemented, "NotImplemented")
		case Overtaxed:
			refuse(w, http.StatusServiceUnavailable, "SlowDown")
		}
	})
}

func record(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<Error><Code>"+code+"</Code><Message>by the proxy</Message></Error>")
}
