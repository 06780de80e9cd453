package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const testKey = "rm_secret"

// testClient does not wait between tries.
func testClient(url string) *Client {
	c := NewClient(url, testKey, "test")
	c.backoff = func(int) time.Duration { return 0 }
	c.backoffFrom = 1
	c.patience = 0
	c.every = time.Millisecond
	return c
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	if e, ok := body.(*Error); ok {
		w.Header().Set("Content-Type", ProblemType)
		status = e.Status
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// uploads is the server's side of one upload, in memory.
type uploads struct {
	partBytes int64
	store     string // where its store is, "" is here
	// meddle, if set, may spoil the try'th PUT of a part, counted from 0.
	meddle func(w http.ResponseWriter, r *http.Request, part, try int, keep func()) (handled bool)

	mu    sync.Mutex
	bytes int64
	held  map[int][]byte
	tries map[int]int
	auth  []string // what came with the PUTs
	urls  int      // signed so far; each is another
	made  int      // uploads; only the newest is known
}

func (u *uploads) id() string { return fmt.Sprintf("upl_%d", u.made) }

// sign makes URLs for the parts that are asked for and not held.
func (u *uploads) sign(asked []Part) (out UploadPartURLs) {
	for _, p := range asked {
		if _, held := u.held[p.Number]; held {
			out.Held = append(out.Held, p.Number)
			continue
		}
		u.urls++
		out.Parts = append(out.Parts, PartURL{p.Number, fmt.Sprintf("%s/v1/blobs/%d?upload=%s&sig=%d", u.store, p.Number, u.id(), u.urls), map[string]string{"X-Bound": strconv.Itoa(p.Number)}})
	}
	return out
}

func (u *uploads) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if part, ok := strings.CutPrefix(r.URL.Path, "/v1/blobs/"); ok {
		n, _ := strconv.Atoi(part)
		u.put(w, r, n)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		answer(w, 0, NewError(401, CodeUnauthenticated, "Send a key."))
		return
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/uploads":
		var request UploadRequest
		_ = json.NewDecoder(r.Body).Decode(&request)
		u.bytes = request.Bytes
		u.made++
		u.held = map[int][]byte{}
		answer(w, 201, UploadCreated{ID: u.id(), PartBytes: u.partBytes})
	case !strings.HasPrefix(r.URL.Path, "/v1/uploads/"+u.id()):
		answer(w, 0, NewError(404, CodeNotFound, "There is no such upload."))
	case r.Method == http.MethodGet:
		answer(w, 200, Upload{ID: u.id(), Bytes: u.bytes, PartBytes: u.partBytes, Held: slices.Sorted(maps.Keys(u.held))})
	case strings.HasSuffix(r.URL.Path, "/parts"):
		var request UploadParts
		_ = json.NewDecoder(r.Body).Decode(&request)
		answer(w, 200, u.sign(request.Parts))
	default:
		u.complete(w, r)
	}
}

func (u *uploads) put(w http.ResponseWriter, r *http.Request, n int) {
	u.mu.Lock()
	try := u.tries[n]
	u.tries[n]++
	u.auth = append(u.auth, r.Header.Get("Authorization"))
	meddle := u.meddle
	u.mu.Unlock()
	keep := func() {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		defer u.mu.Unlock()
		if r.URL.Query().Get("upload") == u.id() { // one that was given up may still be read
			u.held[n] = body
		}
	}
	if meddle != nil && meddle(w, r, n, try, keep) {
		return
	}
	if r.Header.Get("X-Bound") != strconv.Itoa(n) {
		answer(w, 0, NewError(403, CodeBadSignature, "A signed header is missing."))
		return
	}
	keep()
}

func (u *uploads) complete(w http.ResponseWriter, r *http.Request) {
	var request UploadComplete
	_ = json.NewDecoder(r.Body).Decode(&request)
	all := u.whole()
	if int64(len(all)) < u.bytes {
		answer(w, 0, NewError(409, CodeUploadIncomplete, "Parts are missing."))
		return
	}
	if digest := digestOf(all); *request.SHA256 != digest {
		answer(w, 0, NewError(422, CodeDigestMismatch, "The bytes that came are others."))
		return
	}
	answer(w, 200, UploadDone{ID: u.id(), Name: "clip.mov", Bytes: int64(len(all)), SHA256: *request.SHA256})
}

func (u *uploads) whole() []byte {
	var all []byte
	for _, n := range slices.Sorted(maps.Keys(u.held)) {
		all = append(all, u.held[n]...)
	}
	return all
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func newUploads() *uploads {
	return &uploads{partBytes: 4, held: map[int][]byte{}, tries: map[int]int{}}
}

func fileOf(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "clip.mov")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// tally adds up progress.
type tally struct {
	mu  sync.Mutex
	sum int64
}

func (p *tally) add(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum += n
}

func TestUploadSendsEveryPartWhateverHappensToOne(t *testing.T) {
	const content = "0123456789abcdefXY"
	spoil := func(status int) func(http.ResponseWriter, *http.Request, int, int, func()) bool {
		return func(w http.ResponseWriter, r *http.Request, part, try int, _ func()) bool {
			if part != 3 || try > 1 {
				return false
			}
			_, _ = io.Copy(io.Discard, r.Body)
			answer(w, 0, NewError(status, "some_code", "Not now."))
			return true
		}
	}
	cases := []struct {
		name   string
		tries  int // of part 3
		meddle func(http.ResponseWriter, *http.Request, int, int, func()) bool
	}{
		{"nothing", 1, nil},
		{"the server is busy twice", 3, spoil(503)},
		{"a proxy fails twice", 3, spoil(502)},
		{"its URL expires twice", 3, spoil(403)},
		{"it arrives but the answer is lost", 1, func(_ http.ResponseWriter, _ *http.Request, part, _ int, keep func()) bool {
			if part != 3 {
				return false
			}
			keep()
			panic(http.ErrAbortHandler)
		}},
		{"it is held already", 1, func(w http.ResponseWriter, _ *http.Request, part, _ int, keep func()) bool {
			if part != 3 {
				return false
			}
			keep()
			answer(w, 0, NewError(409, CodePartHeld, "The part is held."))
			return true
		}},
		{"an S3 store slows down, and asks for it again", 3, spoilXML(503, "SlowDown")},
		{"an S3 store has dropped its multipart", 3, spoilXML(404, "NoSuchUpload")},
		{"an S3 store got other bytes", 3, spoilXML(400, "BadDigest")},
		{"an S3 store's connection stood still", 3, spoilXML(400, "RequestTimeout")},
		{"the connection breaks", 2, func(_ http.ResponseWriter, _ *http.Request, part, try int, _ func()) bool {
			if part == 3 && try == 0 {
				panic(http.ErrAbortHandler)
			}
			return false
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := newUploads()
			server.meddle = c.meddle
			var sent tally
			done, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, content), sent.add)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(server.whole()); got != content || done.SHA256 != digestOf([]byte(content)) {
				t.Errorf("the server has %q with digest %s", got, done.SHA256)
			}
			if sent.sum != int64(len(content)) {
				t.Errorf("progress adds up to %d bytes, want %d", sent.sum, len(content))
			}
			if server.tries[3] != c.tries {
				t.Errorf("part 3 was sent %d times, want %d", server.tries[3], c.tries)
			}
			for _, n := range []int{1, 2, 4, 5} {
				if server.tries[n] != 1 {
					t.Errorf("part %d was sent %d times, want once", n, server.tries[n])
				}
			}
			if slices.ContainsFunc(server.auth, func(s string) bool { return s != "" }) {
				t.Error("a part went out with the API key")
			}
		})
	}
}

// spoilXML refuses part 3 twice, as an S3 store does.
func spoilXML(status int, code string) func(http.ResponseWriter, *http.Request, int, int, func()) bool {
	return func(w http.ResponseWriter, r *http.Request, part, try int, _ func()) bool {
		if part != 3 || try > 1 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>Not so.</Message></Error>", code)
		return true
	}
}

func TestUploadProgressTakesBackWhatIsSentAgain(t *testing.T) {
	server := newUploads()
	server.meddle = func(w http.ResponseWriter, r *http.Request, part, try int, _ func()) bool {
		if part != 2 || try > 2 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, 0, NewError(503, CodeStoreUnavailable, "Not now."))
		return true
	}
	var sent tally
	if _, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, "0123456789"), sent.add); err != nil {
		t.Fatal(err)
	}
	if sent.sum != 10 {
		t.Errorf("progress adds up to %d bytes, want 10", sent.sum)
	}
}

func TestUploadOfAnEmptyFileIsOneEmptyPart(t *testing.T) {
	server := newUploads()
	if _, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, ""), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if body, held := server.held[1]; len(server.held) != 1 || !held || len(body) != 0 {
		t.Errorf("the server holds %v, want one empty part", server.held)
	}
}

func TestUploadSendsAPartAgainThatStandsStill(t *testing.T) {
	server := newUploads()
	server.meddle = func(_ http.ResponseWriter, r *http.Request, part, try int, _ func()) bool {
		if part != 1 || try > 0 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see the client leave
		<-r.Context().Done()
		return true
	}
	client := testClient(serve(t, server))
	client.stall = 50 * time.Millisecond
	if _, err := client.Upload(t.Context(), fileOf(t, "0123"), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if server.tries[1] != 2 {
		t.Errorf("the part was sent %d times, want 2", server.tries[1])
	}
}

func TestUploadGivesUpOnARefusal(t *testing.T) {
	server := newUploads()
	server.meddle = func(w http.ResponseWriter, _ *http.Request, part, _ int, _ func()) bool {
		answer(w, 0, NewError(507, CodeInsufficientSpace, "The disk is full."))
		return true
	}
	_, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, "0123"), func(int64) {})
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeInsufficientSpace || server.tries[1] != 1 {
		t.Errorf("got %v after %d tries", err, server.tries[1])
	}
}

func TestUploadRefusesWhatIsNoFile(t *testing.T) {
	_, err := testClient("http://127.0.0.1:1").Upload(t.Context(), t.TempDir(), func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("got %v", err)
	}
}

// outputs serves a job's output from another host than the API.
func outputs(t *testing.T, content string) (*Client, *Job) {
	t.Helper()
	blobs := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the API key went to the store")
		}
		_, _ = io.WriteString(w, content)
	}))
	api := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/jobs/job_1/output" || r.Header.Get("Authorization") == "" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		http.Redirect(w, r, blobs+"/v1/blobs/x?sig=1", http.StatusFound)
	}))
	job := &Job{JobItem: JobItem{ID: "job_1", Status: JobSucceeded}}
	job.Artifact = &Artifact{Name: "out.mp4", Bytes: 10, SHA256: digestOf([]byte("0123456789"))}
	return testClient(api), job
}

func TestDownloadWritesOnlyTheVerifiedBytes(t *testing.T) {
	for content, fault := range map[string]string{
		"0123456789":  "",
		"0123456789X": "not the verified ones",
		"012345678X":  "not the verified ones",
	} {
		client, job := outputs(t, content)
		path := filepath.Join(t.TempDir(), "out.mp4")
		err := client.Download(t.Context(), job, path, false, func(int64) {})
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: got %v, want %q", content, err, fault)
		}
		wantFiles := 0
		if fault == "" {
			wantFiles = 1
			if got, _ := os.ReadFile(path); string(got) != content {
				t.Errorf("the file holds %q", got)
			}
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != wantFiles {
			t.Errorf("%s: %d files stand there, want %d", content, len(left), wantFiles)
		}
	}
}

func TestDownloadOverwritesNothingWithoutForce(t *testing.T) {
	client, job := outputs(t, "0123456789")
	path := fileOf(t, "mine")
	err := client.Download(t.Context(), job, path, false, func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "pass --force") {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "mine" {
		t.Errorf("the file holds %q", got)
	}
	if err := client.Download(t.Context(), job, path, true, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "0123456789" {
		t.Errorf("after --force the file holds %q", got)
	}
}

// A file that comes into being during the download is left alone too.
func TestPublishLosesARace(t *testing.T) {
	temp, path := fileOf(t, "new"), fileOf(t, "mine")
	if err := publish(temp, path, false); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("got %v", err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, []byte("mine")) {
		t.Errorf("the file holds %q", got)
	}
}

func TestErrorsSayWhatTheServerSaid(t *testing.T) {
	cases := []struct {
		name string
		h    http.HandlerFunc
		want string
		code string
	}{
		{"a problem", func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 0, NewError(409, CodeJobTerminal, "The job has ended."))
		}, "The job has ended", CodeJobTerminal},
		{"a proxy's page", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, "the server answered 502 Bad Gateway", ""},
		{"a redirect, which would carry the key elsewhere", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusTemporaryRedirect)
		}, "the server answered 307 Temporary Redirect", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := testClient(serve(t, c.h)).Cancel(t.Context(), "job_1")
			var e *Error
			if !errors.As(err, &e) || e.Error() != c.want || e.Code != c.code {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := testClient(s.URL).Job(t.Context(), "job_1")
	if err == nil || !strings.HasPrefix(err.Error(), "no server answers at "+s.URL+" (") {
		t.Errorf("got %v", err)
	}
}

func TestListsAreReadToTheirEnd(t *testing.T) {
	second := "second"
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("cursor") == second {
			answer(w, 200, List[Device]{Items: []Device{{ID: "dev_2"}}})
			return
		}
		answer(w, 200, List[Device]{Items: []Device{{ID: "dev_1"}}, NextCursor: &second})
	})))
	devices, err := client.Devices(t.Context())
	if err != nil || len(devices) != 2 || devices[1].ID != "dev_2" {
		t.Errorf("got %v, %v", devices, err)
	}
}

func TestADeviceIsFoundByIDOrItsWholeName(t *testing.T) {
	var filters []string
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		filters = append(filters, r.URL.Query().Get("state"))
		answer(w, 200, List[Device]{Items: []Device{{ID: "dev_1", Name: "mini"}, {ID: "dev_2", Name: "mini 2"}, {ID: "dev_3", Name: "mini 2"}}})
	})))
	for named, want := range map[string]string{"dev_7": "dev_7", "mini": "dev_1", "Mini": "", "": "", "mini 2": ""} {
		id, err := client.FindDevice(t.Context(), named)
		if id != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v", named, id, err)
		}
	}
	if _, err := client.Devices(t.Context(), "online", "revoked"); err != nil || filters[len(filters)-1] != "online,revoked" {
		t.Errorf("the filters asked for are %q, %v", filters, err)
	}
}

func TestWaitOutlastsAnOutage(t *testing.T) {
	var asked atomic.Int64
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			http.NotFound(w, r)
			return
		}
		switch asked.Add(1) {
		case 1:
			answer(w, 200, Job{JobItem: JobItem{ID: "job_1", Status: JobActive}})
		case 2:
			answer(w, 0, NewError(503, CodeStoreUnavailable, "Not now."))
		case 3:
			panic(http.ErrAbortHandler)
		default:
			answer(w, 200, Job{JobItem: JobItem{ID: "job_1", Status: JobFailed}})
		}
	})))
	var seen []string
	told := &outages{}
	job, err := client.Wait(t.Context(), "job_1", func(j *Job) { seen = append(seen, j.Status) }, told.note)
	if err != nil || job.Status != JobFailed || !slices.Equal(seen, []string{JobActive, JobFailed}) {
		t.Errorf("got %v, %v after %v", job, err, seen)
	}
	if !slices.Equal(told.said, []string{"true 2m0s", "over"}) {
		t.Errorf("told of the outage: %q", told.said)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, Job{JobItem: JobItem{ID: "job_1", Status: JobQueued}})
	})))
	enough := errors.New("enough")
	if _, err := client.Wait(ctx, "job_1", func(*Job) { cancel(enough) }, nil); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// A film that is still being written would arrive cut off.
func TestUploadRefusesAFileThatGrows(t *testing.T) {
	server := newUploads()
	path := fileOf(t, "0123")
	server.meddle = func(http.ResponseWriter, *http.Request, int, int, func()) bool {
		if err := os.WriteFile(path, []byte("0123456"), 0o600); err != nil {
			t.Error(err)
		}
		return false
	}
	_, err := testClient(serve(t, server)).Upload(t.Context(), path, func(int64) {})
	if err == nil || !strings.Contains(err.Error(), "changed while it was uploaded") {
		t.Errorf("got %v", err)
	}
}
