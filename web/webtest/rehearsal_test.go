package webtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// rehearsal is a test within a test: what fails it is kept instead.
type rehearsal struct {
	testing.TB
	mu       sync.Mutex
	said     []string
	cleanups []func()
}

func (r *rehearsal) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}

func (r *rehearsal) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *rehearsal) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

// rehearse gives what fn would have failed its test with.
func rehearse(t *testing.T, fn func(testing.TB)) string {
	t.Helper()
	r := &rehearsal{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for _, f := range r.cleanups {
				f()
			}
		}()
		fn(r)
	}()
	<-done
	return strings.Join(r.said, "\n")
}

const good = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>A page</title><main><h1>A page</h1>%s</main></html>`

// serve gives the address of a server with one page, under the dashboard's
// kind of CSP.
func serve(t *testing.T, body string, files map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
		if text, ok := files[r.URL.Path]; ok {
			w.Header().Set("Content-Type", map[string]string{".js": "text/javascript", ".css": "text/css"}[filepath.Ext(r.URL.Path)])
			fmt.Fprint(w, text)
			return
		}
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, good, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}
