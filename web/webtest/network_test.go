package webtest

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing/iotest"
)

// through is the same server behind something that changes its answers.
func (s *studio) through(change func(*http.Response)) *studio {
	s.Helper()
	to, err := url.Parse(s.url)
	must(s, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1 // what is broken off has begun
	proxy.ErrorLog = log.New(io.Discard, "", 0)
	proxy.ModifyResponse = func(r *http.Response) error {
		change(r)
		return nil
	}
	listener := httptest.NewServer(proxy)
	s.Cleanup(listener.Close)
	behind := *s
	behind.url = listener.URL
	return &behind
}

// breakOff cuts the network in the midst of an answer. One of which nothing had come
// the browser would ask for again by itself.
func breakOff(r *http.Response) {
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(r.Body, 9), iotest.ErrReader(errors.New("cut"))), r.Body}
}
