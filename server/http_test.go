package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// httpServer is the whole HTTP side over a real SQLite file and a real folder,
// under a clock that only the test moves.
type httpServer struct {
	testing.TB
	url   string
	web   *http.Client
	dir   string // the data directory
	srv   *Server
	db    *store.DB
	files *artifact.Dir
	clock *storetest.Clock
	log   *logBuffer

	wires *wires // in a bubble: its connections are in memory

	account                     string // studio's id; the first three keys are its own
	admin, submit, read         string
	otherAccount, otherAdmin    string
	otherAccountSubmit, revoked string
	otherRead                   string
}

// mustServe starts one. Keys of every scope are put into the database before it
// opens, since nobody else may open it then.
func mustServe(t testing.TB, change ...func(*Options)) *httpServer {
	t.Helper()
	return mustServeOf(t, func(*store.Options) {}, change...)
}

// mustServeOf is mustServe with a store of other options.
func mustServeOf(t testing.TB, stored func(*store.Options), change ...func(*Options)) *httpServer {
	t.Helper()
	h := &httpServer{TB: t, web: noRedirects, dir: t.TempDir(), clock: storetest.NewClock(), log: &logBuffer{}}
	h.mustBuild(storetest.Options(h.dir, h.clock), stored, change...)
	s := httptest.NewServer(h.srv.Handler())
	h.url = s.URL
	t.Cleanup(func() {
		s.Close()
		h.srv.loops.Wait()
	})
	return h
}

// mustBuild is everything behind the listener; the server's clock is the store's.
func (h *httpServer) mustBuild(options store.Options, stored func(*store.Options), change ...func(*Options)) {
	h.Helper()
	h.mustKeys(options)
	stored(&options)
	h.db = storetest.MustOpen(h, options)
	files, err := artifact.OpenDir(filepath.Join(h.dir, "artifacts"), "", bytes.Repeat([]byte{7}, 32), options.Now)
	if err != nil {
		h.Fatal(err)
	}
	h.files = files
	o := Options{
		DB: h.db, Artifacts: files, Blobs: files, Now: options.Now, Mono: options.Mono, Log: slog.New(slog.NewTextHandler(h.log, nil)), Version: "test",
		LeaseTTL: storetest.TTL, Heartbeat: 15 * time.Second, Resume: true, PartBytes: 1 << 20, MaxUploadBytes: 1 << 60,
		MaxAttempts: 3, VerifyWorkers: 1, VerifyDeadline: 24 * time.Hour,
	}
	for _, c := range change {
		c(&o)
	}
	if h.srv, err = New(o); err != nil {
		h.Fatal(err)
	}
}

func (h *httpServer) mustKeys(o store.Options) {
	h.Helper()
	db, err := store.Open(context.Background(), o)
	if err != nil {
		h.Fatal(err)
	}
	if h.admin, err = db.FirstStart(context.Background(), ""); err != nil {
		h.Fatal(err)
	}
	studio, err := db.KeyByPlaintext(context.Background(), h.admin)
	if err != nil {
		h.Fatal(err)
	}
	if err := db.Close(); err != nil {
		h.Fatal(err)
	}
	raw, err := sql.Open("sqlite", o.Path)
	if err != nil {
		h.Fatal(err)
	}
	defer raw.Close()
	h.account, h.otherAccount = studio.AccountID, "acc_other"
	h.mustExec(raw, `INSERT INTO accounts (id, name, credit_limit, webhook_secret, created_at) VALUES (?, 'other', 5, 'whsec_', 0)`, h.otherAccount)
	key := func(id, account, scope string) string {
		h.mustExec(raw, `INSERT INTO api_keys (id, account_id, name, scope, key_hash, created_at) VALUES (?, ?, '', ?, ?, 0)`,
			id, account, scope, store.HashSecret("rm_"+id))
		return "rm_" + id
	}
	h.read, h.submit = key("key_read", h.account, "read"), key("key_submit", h.account, "submit")
	h.otherAdmin, h.otherAccountSubmit = key("key_other_admin", h.otherAccount, "admin"), key("key_other", h.otherAccount, "submit")
	h.otherRead = key("key_other_read", h.otherAccount, "read")
	h.revoked = key("key_revoked", h.account, "admin")
	h.mustExec(raw, `UPDATE api_keys SET revoked_at = 1 WHERE id = 'key_revoked'`)
}

func (h *httpServer) mustExec(db *sql.DB, query string, args ...any) {
	h.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		h.Fatalf("%s: %v", query, err)
	}
}

// reply is an answer, read whole.
type reply struct {
	*httpServer
	*http.Response
	body []byte
}

// do sends a request; in is JSON text, a value to be marshalled, or nil.
func (h *httpServer) do(method, path, key string, in any, headers ...string) reply {
	h.Helper()
	var text []byte
	switch v := in.(type) {
	case nil:
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		var err error
		if text, err = json.Marshal(v); err != nil {
			h.Fatal(err)
		}
	}
	if strings.HasPrefix(path, "/") {
		path = h.url + path
	}
	r, err := http.NewRequest(method, path, bytes.NewReader(text))
	if err != nil {
		h.Fatal(err)
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return h.send(r)
}

var noRedirects = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (h *httpServer) send(r *http.Request) reply {
	h.Helper()
	response, err := h.web.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.Fatal(err)
	}
	return reply{h, response, body}
}

// is fails the test unless the status is this one.
func (r reply) is(status int) reply {
	r.Helper()
	if r.StatusCode != status {
		r.Fatalf("%s %s: got %d, want %d: %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, status, r.body)
	}
	return r
}

// refuses fails the test unless the answer is this problem, whole.
func (r reply) refuses(status int, code string) api.Error {
	r.Helper()
	r.is(status)
	if got := r.Header.Get("Content-Type"); got != api.ProblemType {
		r.Fatalf("a problem came as %q: %s", got, r.body)
	}
	p := into[api.Error](r)
	if p.Status != status || p.Code != code || p.Title != http.StatusText(status) || p.Type != "about:blank" || p.Detail == "" {
		r.Fatalf("got %s, want status %d and code %s", r.body, status, code)
	}
	return p
}

// into decodes an answer and minds that it has no key which T lacks.
func into[T any](r reply) T {
	r.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(r.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		r.Fatalf("%v: %s", err, r.body)
	}
	return v
}

func (h *httpServer) get(path, key string) reply { h.Helper(); return h.do("GET", path, key, nil) }

func (h *httpServer) post(path, key string, in any) reply {
	h.Helper()
	return h.do("POST", path, key, in)
}

// mustPut sends a part to its URL.
func (h *httpServer) mustPut(p api.PartURL, bytes []byte) {
	h.Helper()
	h.put(p, bytes).is(200)
}

func (h *httpServer) put(p api.PartURL, bytes []byte) reply {
	h.Helper()
	return h.do("PUT", p.URL, "", bytes)
}

// mustUpload sends a file over HTTP and completes it.
func (h *httpServer) mustUpload(key, name string, content []byte) api.UploadDone {
	h.Helper()
	u := into[api.UploadCreated](h.post("/v1/uploads", key, api.UploadRequest{Name: name, Bytes: int64(len(content))}).is(201))
	for _, p := range u.Parts {
		from := int64(p.Number-1) * u.PartBytes
		h.mustPut(p, content[from:min(from+u.PartBytes, int64(len(content)))])
	}
	return into[api.UploadDone](h.post("/v1/uploads/"+u.ID+"/complete", key, nil).is(200))
}

// mustSubmit submits a job that transcodes a small upload.
func (h *httpServer) mustSubmit(key string, more ...func(*api.JobRequest)) api.Job {
	h.Helper()
	u := h.mustUpload(key, "clip.mov", []byte("clip"))
	r := api.JobRequest{Service: "ffmpeg.transcode", Params: json.RawMessage(`{"preset":"web-720p"}`), Inputs: []api.Input{{UploadID: &u.ID}}}
	for _, m := range more {
		m(&r)
	}
	return into[api.Job](h.post("/v1/jobs", key, r).is(201))
}

// mustSucceed lets a device run a job to its end, by way of the store's verbs.
func (h *httpServer) mustSucceed(output []byte, warnings ...string) store.Session {
	h.Helper()
	ctx, s := context.Background(), storetest.MustDevice(h, h.db)
	o := storetest.MustLease(h, h.db, s)
	claim, result := storetest.Claim(s, o), fence.Result{Bytes: int64(len(output)), SHA256: sum(output)}
	part := store.Part{Number: 1, Bytes: result.Bytes, SHA256: result.SHA256}
	if _, err := h.db.Upload(ctx, claim, result, []store.Part{part}); err != nil {
		h.Fatal(err)
	}
	if err := h.files.Begin(ctx, o.OutputKey, result.Bytes, o.PartBytes); err != nil {
		h.Fatal(err)
	}
	u, err := h.files.SignPart(ctx, o.OutputKey, artifact.Part(part), o.AttemptID, h.clock.Now().Add(time.Hour))
	if err != nil {
		h.Fatal(err)
	}
	h.do("PUT", u.URL, "", output).is(200)
	if _, err := h.files.Complete(ctx, o.OutputKey); err != nil {
		h.Fatal(err)
	}
	if err := h.db.AppendLog(ctx, claim, "frame=1\nframe=2\n"); err != nil {
		h.Fatal(err)
	}
	if _, err := h.db.Commit(ctx, claim, result, warnings); err != nil {
		h.Fatal(err)
	}
	if _, err := h.db.FinishCommit(ctx, o.AttemptID, fence.Verdict{Verified: true}, "", json.RawMessage(`{"container":"mp4"}`)); err != nil {
		h.Fatal(err)
	}
	return s
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func ptr[T any](v T) *T { return &v }

// logBuffer keeps what the server logs.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
