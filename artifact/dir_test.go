package artifact_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

const partBytes = 64 << 10

var secret = []byte("0123456789abcdef0123456789abcdef")

func TestDir(t *testing.T) {
	artifacttest.Run(t, func(t *testing.T) artifacttest.Fixture { return serve(t, t.TempDir()) })
}

// mustOpen opens a directory as a new process would: whatever another Dir on it
// has in memory is not known to it.
func mustOpen(t testing.TB, folder string) *artifact.Dir {
	t.Helper()
	d, err := artifact.OpenDir(folder, "", secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// serve opens the store in folder behind a real HTTP server.
func serve(t testing.TB, folder string) artifacttest.Fixture {
	t.Helper()
	d := mustOpen(t, folder)
	f := serveDir(t, d)
	f.Restart = func() artifacttest.Fixture { return serveAgain(t, folder, d.ID()) }
	f.Away = func(t *testing.T) func() {
		aside := folder + "-aside"
		if err := os.Rename(folder, aside); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Rename(aside, folder); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// serveAgain opens a store that was made before, and may be away.
func serveAgain(t testing.TB, folder, id string) artifacttest.Fixture {
	t.Helper()
	d, err := artifact.AwaitDir(folder, id, secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	f := serveDir(t, d)
	f.Restart = func() artifacttest.Fixture { return serveAgain(t, folder, id) }
	return f
}

func serveDir(t testing.TB, d *artifact.Dir) artifacttest.Fixture {
	server := httptest.NewServer(handler{d})
	t.Cleanup(server.Close)
	return artifacttest.Fixture{Store: d, PartBytes: partBytes, Base: server.URL}
}

// handler does what server/blobs.go does, without echo.
type handler struct{ *artifact.Dir }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	if r.Method == http.MethodPut {
		err = h.Put(w, r)
	} else {
		err = h.Get(w, r)
	}
	if err == nil {
		return
	}
	no := &artifact.Refusal{Status: 500, Code: "internal_error", Detail: err.Error()}
	if errors.Is(err, artifact.ErrUnavailable) {
		no.Status, no.Code = 503, "store_unavailable"
	}
	errors.As(err, &no)
	w.WriteHeader(no.Status)
	_ = json.NewEncoder(w).Encode(no)
}

// answer is what handler said.
type answer struct {
	status int
	artifact.Refusal
	err error
}

// send is a PUT whose answer is read, refusals included.
func send(t testing.TB, r *http.Request) answer {
	t.Helper()
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return answer{err: err}
	}
	defer got.Body.Close()
	a := answer{status: got.StatusCode}
	if a.status != http.StatusOK {
		a.err = json.NewDecoder(got.Body).Decode(&a.Refusal)
	}
	return a
}

func TestDir_DeleteLeavesNoFolders(t *testing.T) {
	folder := t.TempDir()
	f := serve(t, folder)
	publish(t, f, artifacttest.Key, nil)
	publish(t, f, "outputs/job_2/att_2.mp4", nil)
	for _, want := range []int{1, 0} {
		key := artifacttest.Key
		if want == 0 {
			key = "outputs/job_2/att_2.mp4"
		}
		if err := f.Store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		for _, area := range []string{"/objects/outputs", "/digests/outputs"} {
			if left, _ := os.ReadDir(folder + area); len(left) != want {
				t.Errorf("%s has %d folders, want %d", area, len(left), want)
			}
		}
	}
}

func TestDir_RefusesWhatCannotBe(t *testing.T) {
	if _, err := artifact.OpenDir(t.TempDir(), "", []byte("short"), time.Now); err == nil {
		t.Error("a short secret passed")
	}
	d := mustOpen(t, t.TempDir())
	ctx := t.Context()
	_, signing := d.SignGet(ctx, "../x", "", time.Now())
	_, _, opening := d.Open(ctx, "../x")
	for what, err := range map[string]error{
		"Begin ../x": d.Begin(ctx, "../x", 1, 1), "SignGet ../x": signing, "Open ../x": opening, "Delete ../x": d.Delete(ctx, "../x"),
		"10,001 parts": d.Begin(ctx, "a", 10_001, 1), "a negative size": d.Begin(ctx, "a", -1, 1),
	} {
		if err == nil || errors.Is(err, artifact.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := d.Begin(ctx, "a", 25, 10); err != nil {
		t.Fatal(err)
	}
	for _, p := range []artifact.Part{{Number: 0, Bytes: 10}, {Number: 4, Bytes: 10}, {Number: 1, Bytes: 5}, {Number: 3, Bytes: 10}} {
		if _, err := d.SignPart(ctx, "a", p, "upl_1", time.Now().Add(time.Hour)); err == nil {
			t.Errorf("a URL for %+v of 25 bytes in tens", p)
		}
	}
}

// Parts of another size have no place in what was written.
func TestDir_PartSizeChanges(t *testing.T) {
	f := serve(t, t.TempDir())
	object := artifacttest.Bytes(1, 2*partBytes)
	f.MustBegin(t, object)
	stale := f.MustSign(t, 1, object[:partBytes])
	f.MustPut(t, 1, object[:partBytes])
	f.PartBytes *= 2
	f.MustBegin(t, object)
	f.MustHold(t, nil)
	if status := f.Put(t, stale, object[:partBytes]); status != http.StatusForbidden {
		t.Errorf("a stale URL answers %d, want 403", status)
	}
	f.MustPut(t, 1, object)
	f.MustComplete(t, object)
}
