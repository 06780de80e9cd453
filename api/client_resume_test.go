package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const film = "0123456789abcdefXY" // five parts of four bytes

// stopped is a server that holds some parts of a film whose upload was
// interrupted, and the folder that remembers it.
func stopped(t *testing.T) (server *uploads, client *Client, path, folder string) {
	t.Helper()
	server, path, folder = newUploads(), fileOf(t, film), filepath.Join(t.TempDir(), "uploads")
	ctx, interrupt := context.WithCancel(t.Context())
	var before sync.WaitGroup
	before.Add(4)
	server.meddle = func(w http.ResponseWriter, r *http.Request, part, _ int, keep func()) bool {
		if part < 5 {
			keep()
			before.Done()
			return true
		}
		_, _ = io.Copy(io.Discard, r.Body)
		before.Wait()
		interrupt()
		<-r.Context().Done()
		return true
	}
	client = testClient(serve(t, server))
	_, err := client.ResumeUpload(ctx, path, Resume{Folder: folder}, func(int64) {})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	server.meddle = nil
	clear(server.tries)
	server.held = map[int][]byte{1: []byte(film[:4]), 3: []byte(film[8:12])}
	return server, client, path, folder
}

// goOn uploads the film to its end, and answers what was said to be there.
func goOn(t *testing.T, server *uploads, client *Client, path, folder string) (held int64, done *UploadDone) {
	t.Helper()
	var sent tally
	done, err := client.ResumeUpload(t.Context(), path, Resume{Folder: folder, GoesOn: func(n int64) { held = n }}, sent.add)
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil || string(server.whole()) != string(content) || sent.sum != int64(len(content)) {
		t.Errorf("the server has %q, progress says %d bytes, %v", server.whole(), sent.sum, err)
	}
	return held, done
}

func notes(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestAnUploadGoesOnInAnotherProcess(t *testing.T) {
	server, client, path, folder := stopped(t)
	again := testClient(client.url)
	held, done := goOn(t, server, again, path, folder)
	if held != 8 || server.tries[1]+server.tries[3] != 0 || server.made != 1 {
		t.Errorf("%d bytes were there, parts were sent %v times, %d uploads made", held, server.tries, server.made)
	}
	left := notes(t, folder)
	if info, err := left[0].Info(); err != nil || len(left) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("%v remembers, %v", left, err)
	}
	// The job may have been refused: then the same upload is asked for once more.
	if held, second := goOn(t, server, testClient(client.url), path, folder); second.ID != done.ID || held != int64(len(film)) {
		t.Errorf("another upload was made: %s after %s", second.ID, done.ID)
	}
	client.ForgetUpload(folder, path, "upl_other")
	if len(notes(t, folder)) != 1 {
		t.Error("another upload's note was forgotten")
	}
	client.ForgetUpload(folder, path, done.ID)
	if left := notes(t, folder); len(left) != 0 {
		t.Errorf("%v still remembers", left)
	}
}

func TestAnUploadBeginsAnewWhereItMust(t *testing.T) {
	for name, change := range map[string]func(server *uploads, client *Client, path, folder string) error{
		"the file has another length": func(_ *uploads, _ *Client, path, _ string) error {
			return os.WriteFile(path, []byte(film+"Z"), 0o600)
		},
		"the file was written again": func(_ *uploads, _ *Client, path, _ string) error {
			return os.Chtimes(path, time.Time{}, time.Now().Add(time.Second))
		},
		"the server knows of none": func(server *uploads, _ *Client, _, _ string) error { server.made = 7; return nil },
		"it is another file's": func(server *uploads, _ *Client, _, _ string) error {
			server.held[1] = []byte("film")
			return nil
		},
		"the note is cut off": func(_ *uploads, _ *Client, _, folder string) error {
			left, err := os.ReadDir(folder)
			return errors.Join(err, os.Truncate(filepath.Join(folder, left[0].Name()), 20))
		},
		"the note is too old": func(_ *uploads, _ *Client, _, folder string) error {
			left, err := os.ReadDir(folder)
			old := time.Now().Add(-uploadsKept - time.Hour)
			return errors.Join(err, os.Chtimes(filepath.Join(folder, left[0].Name()), old, old))
		},
	} {
		t.Run(name, func(t *testing.T) {
			server, client, path, folder := stopped(t)
			before := server.made
			if err := change(server, client, path, folder); err != nil {
				t.Fatal(err)
			}
			before = max(before, server.made)
			goOn(t, server, client, path, folder)
			if server.made != before+1 {
				t.Errorf("%d uploads were made", server.made-before)
			}
		})
	}
}

func TestNotesAreOneAServerKeyAndFile(t *testing.T) {
	folder, path := t.TempDir(), fileOf(t, film)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient("http://a", "rm_a", "test")
	m := client.recall(folder, path)
	m.keep("upl_1", info)
	if second := client.recall(folder, path); second.file != nil {
		t.Error("two have the same note at once")
	}
	m.release()
	if m = client.recall(folder, path); m.upload(info) != "upl_1" {
		t.Error("it was not remembered")
	}
	m.release()
	for _, other := range []*memory{
		NewClient("http://b", "rm_a", "test").recall(folder, path),
		NewClient("http://a", "rm_b", "test").recall(folder, path),
		client.recall(folder, fileOf(t, film)),
	} {
		if id := other.upload(info); id != "" || other.file == nil {
			t.Errorf("another one remembers %q", id)
		}
		other.release()
	}
	if left := notes(t, folder); len(left) != 1 {
		t.Errorf("%d notes are left", len(left))
	}
	text, err := os.ReadFile(filepath.Join(folder, notes(t, folder)[0].Name()))
	if err != nil || strings.Contains(string(text), "rm_a") {
		t.Errorf("the note says %s, %v", text, err)
	}
}

// A part that the store had and has lost is sent once more.
func TestWhatTheStoreLosesIsSentAgain(t *testing.T) {
	server, path := newUploads(), fileOf(t, film)
	server.meddle = func(_ http.ResponseWriter, _ *http.Request, part, _ int, keep func()) bool {
		if part == 5 {
			keep()
			server.mu.Lock()
			for n := range server.held { // one at least has arrived before the fifth is sent
				if n != 5 {
					delete(server.held, n)
					break
				}
			}
			server.mu.Unlock()
		}
		return part == 5
	}
	var sent tally
	if _, err := testClient(serve(t, server)).Upload(t.Context(), path, sent.add); err != nil {
		t.Fatal(err)
	}
	if string(server.whole()) != film || sent.sum != int64(len(film)) {
		t.Errorf("the server has %q, progress says %d bytes", server.whole(), sent.sum)
	}
}

func TestWrongBytesAreSentAgainOnce(t *testing.T) {
	for _, spoilt := range []int{1, 2} {
		server := newUploads()
		server.meddle = func(_ http.ResponseWriter, r *http.Request, part, _ int, keep func()) bool {
			server.mu.Lock()
			wrong := part == 1 && server.made <= spoilt
			server.mu.Unlock()
			if wrong {
				r.Body = io.NopCloser(strings.NewReader("film"))
			}
			keep()
			return true
		}
		_, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, film), func(int64) {})
		if (spoilt == 1) != (err == nil) || err != nil && !hasCode(err, CodeDigestMismatch) || server.made != 2 {
			t.Errorf("spoilt %d times: %v after %d uploads", spoilt, err, server.made)
		}
	}
}

func TestAServerThatIsAwayIsWaitedFor(t *testing.T) {
	server := newUploads()
	server.meddle = func(w http.ResponseWriter, _ *http.Request, _, try int, _ func()) bool {
		if try < 3*partTries {
			answer(w, 0, NewError(503, CodeStoreUnavailable, "The store is away."))
		}
		return try < 3*partTries
	}
	client := testClient(serve(t, server))
	client.patience = time.Hour
	if _, err := client.Upload(t.Context(), fileOf(t, "0123"), func(int64) {}); err != nil {
		t.Fatal(err)
	}
	client.patience = 0
	_, err := client.Upload(t.Context(), fileOf(t, "4567"), func(int64) {})
	if clear(server.tries); err != nil {
		t.Fatal(err)
	}
	if _, err = client.Upload(t.Context(), fileOf(t, "4567"), func(int64) {}); !hasCode(err, CodeStoreUnavailable) {
		t.Errorf("without patience: %v", err)
	}
}

func TestAProxyThatRefusesBodiesIsNamed(t *testing.T) {
	var read atomic.Int64
	server := newUploads()
	server.partBytes = 2 << 20
	server.meddle = func(w http.ResponseWriter, r *http.Request, _, _ int, _ func()) bool {
		http.Error(w, "<html>too large</html>", http.StatusRequestEntityTooLarge)
		return true
	}
	client := testClient(serve(t, server))
	_, err := client.Upload(t.Context(), fileOf(t, strings.Repeat("x", 2<<20)), func(n int64) { read.Add(max(n, 0)) })
	if err == nil || !strings.Contains(err.Error(), "set store.part_bytes: 1MiB on the server") {
		t.Error(err)
	}
	if read.Load() > 0 {
		t.Errorf("%d bytes were sent to a proxy that would not have them", read.Load())
	}
}

// A proxy that knows no "Expect: 100-continue" says 417 to it.
func TestAProxyThatCannotBeAskedFirstGetsThePartsAtOnce(t *testing.T) {
	server := newUploads()
	server.partBytes = 2 << 20
	var refused atomic.Int64
	server.meddle = func(w http.ResponseWriter, r *http.Request, _, _ int, _ func()) bool {
		if r.Header.Get("Expect") == "" {
			return false
		}
		refused.Add(1)
		w.WriteHeader(http.StatusExpectationFailed)
		return true
	}
	content, sent := strings.Repeat("x", 5<<20), tally{}
	_, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, content), sent.add)
	if err != nil || string(server.whole()) != content || sent.sum != int64(len(content)) {
		t.Errorf("progress says %d bytes, %v", sent.sum, err)
	}
	if n := refused.Load(); n == 0 || n > partsAtOnce {
		t.Errorf("asked first %d times", n)
	}
}

// What was refused for its length must not be remembered with it.
func TestAnUploadThatAProxyRefusedBeginsAnew(t *testing.T) {
	server, client, path, folder := stopped(t)
	server.meddle = func(w http.ResponseWriter, _ *http.Request, _, _ int, _ func()) bool {
		http.Error(w, "<html>too large</html>", http.StatusRequestEntityTooLarge)
		return true
	}
	_, err := client.ResumeUpload(t.Context(), path, Resume{Folder: folder}, func(int64) {})
	if !hasStatus(err, http.StatusRequestEntityTooLarge) || len(notes(t, folder)) != 0 {
		t.Fatalf("%v, and %d notes are left", err, len(notes(t, folder)))
	}
	server.mu.Lock()
	server.meddle, server.partBytes = nil, 2
	server.mu.Unlock()
	if goOn(t, server, client, path, folder); server.made != 2 {
		t.Errorf("%d uploads were made", server.made)
	}
}

func TestAProxyBeforeAnS3StoreIsToldFromOneBeforeTheServer(t *testing.T) {
	for ours, want := range map[bool]string{
		true:  "before the server refuses bodies of 9 bytes: set store.part_bytes: 1MiB on the server",
		false: "before the S3 store refuses bodies of 9 bytes: let it pass them, or set store.part_bytes: 5MiB on the server",
	} {
		err := partRefusal(&http.Response{StatusCode: 413, Status: "413 Too Large", Body: http.NoBody}, 9, ours)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

func TestTheServerSaysWhenToComeBack(t *testing.T) {
	response := func(after string) *http.Response {
		return &http.Response{StatusCode: 503, Status: "503 Service Unavailable", Header: http.Header{"Retry-After": {after}}, Body: http.NoBody}
	}
	for after, want := range map[string]time.Duration{"7": 7 * time.Second, "86400": longestPause, "soon": 0, "-3": 0} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if err := testClient("http://a").pause(t.Context(), 0, problem(response(after))); err != nil || time.Since(began) != want {
				t.Errorf("Retry-After %s: %s, %v", after, time.Since(began), err)
			}
		})
	}
}

// damage answers the PUTs of part 2 as a store does that got other bytes than
// the URL is bound to.
func damage(code string, first func()) func(http.ResponseWriter, *http.Request, int, int, func()) bool {
	return func(w http.ResponseWriter, r *http.Request, part, try int, _ func()) bool {
		if part != 2 {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if try == 0 {
			first()
		}
		answer(w, 0, NewError(http.StatusUnprocessableEntity, code, "The bytes are others."))
		return true
	}
}

func TestAPartThatIsDamagedEachTimeEndsTheUpload(t *testing.T) {
	for _, code := range mismatches {
		server := newUploads()
		server.meddle = damage(code, func() {})
		_, err := testClient(serve(t, server)).Upload(t.Context(), fileOf(t, film), func(int64) {})
		if err == nil || !strings.Contains(err.Error(), "arrived with other bytes") || server.tries[2] != partTries || server.made != 1 {
			t.Errorf("%s: %v, after %d tries and %d uploads", code, err, server.tries[2], server.made)
		}
	}
}

// A file that is written meanwhile is told from one that is damaged on its way.
func TestAPartThatHasChangedIsNamed(t *testing.T) {
	server, path := newUploads(), fileOf(t, film)
	server.meddle = damage(CodeDigestMismatch, func() {
		if err := os.WriteFile(path, []byte("0123....89abcdefXY"), 0o600); err != nil {
			t.Error(err)
		}
	})
	_, err := testClient(serve(t, server)).Upload(t.Context(), path, func(int64) {})
	if !errors.Is(err, errChanged) || server.tries[2] != 1 {
		t.Errorf("%v after %d tries", err, server.tries[2])
	}
}
