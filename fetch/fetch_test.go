package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const small = 64 << 10 // a range, in these tests

// seeded gives bytes and a source of randomness; the seed is printed.
func seeded(t testing.TB, n int) (*rand.Rand, []byte) {
	seed := rand.Uint64()
	if text := os.Getenv("FETCH_SEED"); text != "" {
		fmt.Sscan(text, &seed)
	}
	t.Logf("FETCH_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return rnd, data
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// object is a store's server with one object; ways to fail go before.
type object struct {
	data   []byte
	sent   atomic.Int64
	asked  atomic.Int64 // requests
	before func(w http.ResponseWriter, r *http.Request) (done bool)
}

func (o *object) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.asked.Add(1)
	if o.before != nil && o.before(w, r) {
		return
	}
	http.ServeContent(sending{w, &o.sent}, r, "", time.Time{}, bytes.NewReader(o.data))
}

type sending struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (s sending) Write(p []byte) (int, error) {
	s.n.Add(int64(len(p))) // before whoever asked has it
	return s.ResponseWriter.Write(p)
}

// options are for an object behind a handler, into a folder of its own.
func options(t testing.TB, data []byte, handler http.Handler) Options {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return Options{
		Path: filepath.Join(t.TempDir(), "file"), Bytes: int64(len(data)), SHA256: digest(data), AtOnce: 3,
		URL: func(context.Context) (string, http.Header, error) {
			return server.URL + "/object?signature=SECRET", nil, nil
		},
		Client:     server.Client(),
		Retry:      Retry{Backoff: time.Microsecond, Patience: 0, Idle: time.Minute},
		rangeBytes: small,
	}
}

// arrived fails unless the file is the object and lies there alone.
func arrived(t *testing.T, o Options, data []byte) {
	t.Helper()
	got, err := os.ReadFile(o.Path)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%d bytes, %v: not the object", len(got), err)
	}
	left(t, o, "file")
}

// left fails unless these files and no others are there.
func left(t *testing.T, o Options, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(o.Path))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Fatalf("%q are left, not %q", got, names)
	}
}

func TestEverySizeArrives(t *testing.T) {
	for _, n := range []int{0, 1, small - 1, small, small + 1, 5 * small, 5*small + 7} {
		for _, atOnce := range []int{1, 3, 9} {
			t.Run(fmt.Sprint(n, " by ", atOnce), func(t *testing.T) {
				_, data := seeded(t, n)
				server := &object{data: data}
				o := options(t, data, server)
				o.AtOnce = atOnce
				var moved int64
				o.Progress = func(n int64) { moved += n }
				if err := To(t.Context(), o); err != nil {
					t.Fatal(err)
				}
				arrived(t, o, data)
				if moved != int64(n) || server.sent.Load() != int64(n) {
					t.Errorf("%d of %d bytes reported, %d sent", moved, n, server.sent.Load())
				}
				if atOnce == 1 && server.asked.Load() > 1 {
					t.Errorf("%d requests for one stream", server.asked.Load())
				}
			})
		}
	}
}

func TestSeveralRunAtOnce(t *testing.T) {
	_, data := seeded(t, 9*small)
	var meet sync.WaitGroup
	meet.Add(3)
	var came atomic.Int64
	server := &object{data: data, before: func(http.ResponseWriter, *http.Request) bool {
		if came.Add(1) <= 3 {
			meet.Done()
			meet.Wait() // ends only if three are here at once
		}
		return false
	}}
	o := options(t, data, server)
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}

// cut answers right and hangs up after so many bytes of the body.
func cut(w http.ResponseWriter, r *http.Request, data []byte, after int) {
	got := httptest.NewRecorder()
	http.ServeContent(got, r, "", time.Time{}, bytes.NewReader(data))
	for name, values := range got.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(got.Code)
	w.Write(got.Body.Bytes()[:min(after, got.Body.Len())])
	panic(http.ErrAbortHandler)
}

func TestABrokenConnectionLosesNothing(t *testing.T) {
	for _, atOnce := range []int{1, 4} {
		rnd, data := seeded(t, 20*small+123)
		var mu sync.Mutex
		n := 0
		server := &object{data: data}
		server.before = func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			n++
			broken, after := n%2 == 0 && n < 60, 1+rnd.IntN(2*small)
			mu.Unlock()
			if broken {
				cut(w, r, data, after)
			}
			return false
		}
		o := options(t, data, server)
		o.AtOnce = atOnce
		o.Retry.Patience = time.Minute
		if err := To(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		arrived(t, o, data)
	}
}

func TestAServerWithoutRangesIsReadInOneGo(t *testing.T) {
	_, data := seeded(t, 6*small)
	for name, refuse := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"200": func(w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false },
		"416": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(416)
			}
			return r.Header.Get("Range") != ""
		},
		"another range": func(w http.ResponseWriter, r *http.Request) bool {
			if r.Header.Get("Range") != "" {
				r.Header.Set("Range", "bytes=7-9")
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			var broken atomic.Bool
			o := options(t, data, &object{data: data, before: func(w http.ResponseWriter, r *http.Request) bool {
				if r.Header.Get("Range") == "" && broken.CompareAndSwap(false, true) {
					cut(w, r, data, 3*small+5) // and goes on behind it, by reading what it has once more
				}
				return refuse(w, r)
			}})
			var moved int64
			o.Progress = func(n int64) { moved += n }
			if err := To(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			arrived(t, o, data)
			if moved != int64(len(data)) {
				t.Errorf("%d bytes reported", moved)
			}
		})
	}
}

func TestAnExpiredURLIsAskedForOnce(t *testing.T) {
	_, data := seeded(t, 8*small)
	o := options(t, data, &object{data: data, before: func(w http.ResponseWriter, r *http.Request) bool {
		old := r.Header.Get("X-Age") == "1" && r.Header.Get("Range") != "bytes=0-65535"
		if old {
			w.WriteHeader(403)
		}
		return old
	}})
	plain, asked := o.URL, 0
	o.URL = func(ctx context.Context) (string, http.Header, error) {
		asked++
		url, _, err := plain(ctx)
		return url, http.Header{"X-Age": {fmt.Sprint(asked)}}, err
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
	if asked != 2 {
		t.Errorf("asked %d times for a URL", asked)
	}
}

func TestNoURLAnyMoreEndsIt(t *testing.T) {
	_, data := seeded(t, 10)
	o := options(t, data, &object{data: data})
	gone := errors.New("the job is no longer yours")
	o.Retry.Patience = time.Hour
	o.URL = func(context.Context) (string, http.Header, error) { return "", nil, Hopeless{gone} }
	if err := To(t.Context(), o); !errors.Is(err, gone) {
		t.Fatal(err)
	}
}

func TestWrongBytesAreFetchedAnewThreeTimes(t *testing.T) {
	for _, wrong := range []int64{1, 3} {
		_, data := seeded(t, 3*small)
		other := bytes.Clone(data)
		other[small+3] ^= 1
		server := &object{data: data}
		server.before = func(w http.ResponseWriter, r *http.Request) bool {
			if server.asked.Load() <= wrong {
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(other))
			}
			return server.asked.Load() <= wrong
		}
		o := options(t, data, server)
		o.AtOnce = 1
		var moved int64
		o.Progress = func(n int64) { moved += n }
		err := To(t.Context(), o)
		if wrong == 1 {
			if err != nil {
				t.Fatal(err)
			}
			arrived(t, o, data)
			if moved != int64(len(data)) {
				t.Errorf("%d bytes reported", moved)
			}
			continue
		}
		if !errors.Is(err, ErrDigest) || server.asked.Load() != 3 {
			t.Fatalf("%v after %d tries", err, server.asked.Load())
		}
		left(t, o)
	}
}

func TestAByteMoreThanPromisedIsRefused(t *testing.T) {
	for _, atOnce := range []int{1, 3} {
		for _, known := range []bool{true, false} {
			_, data := seeded(t, 3*small)
			server := &object{data: append(bytes.Clone(data), 'x')}
			o := options(t, data, server)
			o.AtOnce = atOnce
			if !known {
				o.SHA256 = ""
			}
			if err := To(t.Context(), o); !errors.Is(err, ErrDigest) {
				t.Fatal(err)
			}
			left(t, o)
		}
	}
}

func TestAShorterObjectIsTriedAndGivenUp(t *testing.T) {
	_, data := seeded(t, 3*small)
	o := options(t, data, &object{data: data[:small]})
	o.AtOnce = 1
	if err := To(t.Context(), o); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
}

func TestWithoutADigestTheLengthDecides(t *testing.T) {
	_, data := seeded(t, 3*small)
	o := options(t, data, &object{data: data})
	o.SHA256 = ""
	if err := os.WriteFile(o.Path, make([]byte, len(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := To(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}

func TestRedirectsAreNotFollowedAndNoErrorShowsTheURL(t *testing.T) {
	_, data := seeded(t, 10)
	for status, body := range map[int]string{
		302: "", 404: `{"code": "not_found", "detail": "there is no such object"}`,
		400: `<Error><Code>AuthorizationQueryParametersError</Code><Message>odd</Message><SignatureProvided>SECRET</SignatureProvided></Error>`,
		502: "<html>SECRET",
	} {
		o := options(t, data, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/object" {
				t.Error("a redirect was followed")
			}
			w.Header().Set("Location", "/elsewhere?signature=SECRET")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		err := To(t.Context(), o)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Status != status || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%d: %v", status, err)
		}
	}
	o := options(t, data, nil)
	o.URL = func(context.Context) (string, http.Header, error) {
		return "http://127.0.0.1:1/?signature=SECRET", nil, nil
	}
	if err := To(t.Context(), o); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Error(err)
	}
}

func TestADiskThatFailsEndsItAtOnce(t *testing.T) {
	_, data := seeded(t, 10)
	server := &object{data: data}
	o := options(t, data, server)
	o.Retry.Patience = time.Hour
	o.Path = filepath.Join(o.Path, "in a folder that is not there")
	var disk DiskError
	if err := To(t.Context(), o); !errors.As(err, &disk) || server.asked.Load() > 0 {
		t.Fatalf("%v after %d requests", err, server.asked.Load())
	}
}

func TestOneProcessAtATime(t *testing.T) {
	_, data := seeded(t, 10)
	here, on := make(chan bool), make(chan bool)
	o := options(t, data, &object{data: data, before: func(http.ResponseWriter, *http.Request) bool {
		here <- true
		<-on
		return false
	}})
	first := make(chan error)
	go func() { first <- To(t.Context(), o) }()
	<-here
	if err := To(t.Context(), o); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Error(err)
	}
	on <- true
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	arrived(t, o, data)
}
