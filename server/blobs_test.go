package server

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"rendermac/artifact"
)

// blobServer is the directory store behind echo, and what echo's middleware saw
// of each answer.
type blobServer struct {
	*httptest.Server
	store  *artifact.Dir
	folder string
	log    bytes.Buffer
	seen   chan seen
}

type seen struct {
	status int
	size   int64
}

const blobKey = "outputs/job_1/att_1.mp4"

func newBlobServer(t *testing.T) *blobServer {
	t.Helper()
	s := &blobServer{folder: t.TempDir(), seen: make(chan seen, 100)}
	var err error
	if s.store, err = artifact.OpenDir(s.folder, "", []byte(rand.Text()+rand.Text()), time.Now); err != nil {
		t.Fatal(err)
	}
	b := blobs{store: s.store, moved: func(int64, int64) {}, problem: func(c echo.Context, status int, code, detail string) error {
		c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
		return c.JSON(status, map[string]any{"status": status, "code": code, "detail": detail})
	}}
	e := echo.New()
	e.HTTPErrorHandler = (&Server{o: Options{Log: slog.New(slog.NewTextHandler(&s.log, nil))}}).failed
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			err := next(c)
			s.seen <- seen{c.Response().Status, c.Response().Size}
			return err
		}
	})
	e.PUT("/v1/blobs/*", b.put)
	e.GET("/v1/blobs/*", b.get)
	e.HEAD("/v1/blobs/*", b.get)
	s.Server = httptest.NewServer(e)
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *blobServer) mustSign(t *testing.T, p artifact.Part) string {
	t.Helper()
	u, err := s.store.SignPart(t.Context(), blobKey, p, "att_1", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return s.URL + u.URL
}

// do returns the answer, its body, and the problem's code where there is one.
func (s *blobServer) do(t *testing.T, method, url string, body []byte) (*http.Response, []byte, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var problem struct{ Code string }
	if answer.Header.Get("Content-Type") == "application/problem+json" {
		if err := json.Unmarshal(text, &problem); err != nil {
			t.Fatal(err)
		}
	}
	return answer, text, problem.Code
}

func TestBlobs_PutAndGet(t *testing.T) {
	s := newBlobServer(t)
	object := make([]byte, 3<<20)
	_, _ = rand.Read(object)
	if err := s.store.Begin(t.Context(), blobKey, int64(len(object)), 2<<20); err != nil {
		t.Fatal(err)
	}
	for n, part := range [][]byte{object[:2<<20], object[2<<20:]} {
		url := s.mustSign(t, artifact.Part{Number: n + 1, Bytes: int64(len(part))})
		if answer, text, _ := s.do(t, http.MethodPut, url, part); answer.StatusCode != http.StatusOK || len(text) > 0 {
			t.Fatalf("part %d: %d %s", n+1, answer.StatusCode, text)
		}
		if answer, _, code := s.do(t, http.MethodPut, url, part); answer.StatusCode != http.StatusConflict || code != "part_held" {
			t.Errorf("part %d again: %d %s, want 409 part_held", n+1, answer.StatusCode, code)
		}
	}
	info, err := s.store.Complete(t.Context(), blobKey)
	if err != nil {
		t.Fatal(err)
	}
	u, err := s.store.SignGet(t.Context(), blobKey, "Größe.mp4", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	answer, text, _ := s.do(t, http.MethodGet, s.URL+u.URL, nil)
	if answer.StatusCode != http.StatusOK || !bytes.Equal(text, object) || answer.Header.Get("ETag") != strconv.Quote(info.SHA256) {
		t.Errorf("GET: %d, %d bytes, ETag %s", answer.StatusCode, len(text), answer.Header.Get("ETag"))
	}
	for range 4 {
		<-s.seen // the PUTs
	}
	if got := <-s.seen; got != (seen{http.StatusOK, int64(len(object))}) {
		t.Errorf("middleware saw %+v of the GET", got)
	}
	answer, text, _ = s.do(t, http.MethodHead, s.URL+u.URL, nil)
	if answer.StatusCode != http.StatusOK || answer.ContentLength != int64(len(object)) || len(text) > 0 {
		t.Errorf("HEAD: %d, length %d", answer.StatusCode, answer.ContentLength)
	}
}

func TestBlobs_Problems(t *testing.T) {
	s := newBlobServer(t)
	part := []byte("0123456789")
	if err := s.store.Begin(t.Context(), blobKey, 10, 10); err != nil {
		t.Fatal(err)
	}
	good := s.mustSign(t, artifact.Part{Number: 1, Bytes: 10, SHA256: strings.Repeat("00", 32)})
	unpublished, err := s.store.SignGet(t.Context(), blobKey, "", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what, method, url string
		body              []byte
		status            int
		code              string
	}{
		{"garbage", http.MethodPut, s.URL + "/v1/blobs/%2e%2e/%00?sig=x", part, 403, "bad_signature"},
		{"no key", http.MethodGet, s.URL + "/v1/blobs/", nil, 403, "bad_signature"},
		{"a PUT's URL", http.MethodGet, good, nil, 403, "bad_signature"},
		{"other bytes", http.MethodPut, good, part, 422, "digest_mismatch"},
		{"other length", http.MethodPut, good, part[:9], 422, "digest_mismatch"},
		{"not published", http.MethodGet, s.URL + unpublished.URL, nil, 404, "not_found"},
	} {
		if answer, text, code := s.do(t, test.method, test.url, test.body); answer.StatusCode != test.status || code != test.code {
			t.Errorf("%s: %d %s, want %d %s", test.what, answer.StatusCode, text, test.status, test.code)
		}
	}
}

// A fault of the disk is in the log, not in the answer, and no secret is in either.
func TestBlobs_StoreFails(t *testing.T) {
	s := newBlobServer(t)
	if err := s.store.Begin(t.Context(), blobKey, 10, 10); err != nil {
		t.Fatal(err)
	}
	url := s.mustSign(t, artifact.Part{Number: 1, Bytes: 10})
	if err := os.RemoveAll(s.folder + "/writes"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.folder+"/writes", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	answer, text, code := s.do(t, http.MethodPut, url, []byte("0123456789"))
	if answer.StatusCode != http.StatusInternalServerError || code != "internal_error" || bytes.Contains(text, []byte("writes")) {
		t.Errorf("%d %s, want 500 internal_error that gives no path away", answer.StatusCode, text)
	}
	if log := s.log.String(); !strings.Contains(log, "not a directory") || strings.Contains(log, "sig=") {
		t.Errorf("log: %s", log)
	}
}
