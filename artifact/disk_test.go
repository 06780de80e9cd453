package artifact_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// partings are ways in which a store's disk goes away, each with its way back.
var partings = map[string]func(t *testing.T, folder string) (back func()){
	"its folder is gone": func(t *testing.T, folder string) func() { return moveAside(t, folder) },
	"an empty mount point": func(t *testing.T, folder string) func() {
		back := moveAside(t, folder)
		mustDo(t, os.Mkdir(folder, 0o700))
		return func() {
			mustDo(t, os.Remove(folder)) // which it is not if anything was made in it
			back()
		}
	},
	"another store in its place": func(t *testing.T, folder string) func() {
		back := moveAside(t, folder)
		mustOpen(t, folder)
		return func() {
			for _, name := range []string{"objects", "writes", "digests"} {
				mustDo(t, os.Remove(filepath.Join(folder, name))) // nothing was put there
			}
			mustDo(t, os.RemoveAll(folder))
			back()
		}
	},
	"a file in its place": func(t *testing.T, folder string) func() {
		back := moveAside(t, folder)
		mustDo(t, os.WriteFile(folder, nil, 0o600))
		return func() {
			mustDo(t, os.Remove(folder))
			back()
		}
	},
}

func moveAside(t *testing.T, folder string) (back func()) {
	t.Helper()
	mustDo(t, os.Rename(folder, folder+".away"))
	return func() { mustDo(t, os.Rename(folder+".away", folder)) }
}

func mustDo(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outage is a store with a published object, an open write of which part 1 of
// two is held, and another one that is to be aborted.
type outage struct {
	artifacttest.Fixture
	folder    string
	published string
	object    []byte
	parts     [][]byte
	part2     artifact.URL
}

func newOutage(t *testing.T, folder string) *outage {
	t.Helper()
	o := &outage{Fixture: serve(t, folder), folder: folder, published: "outputs/job_0/att_0.mp4", object: artifacttest.Bytes(5, 2*partBytes)}
	publish(t, o.Fixture, o.published, []byte("film"))
	o.MustBegin(t, o.object)
	o.parts = artifacttest.Cut(o.object, partBytes)
	o.MustPut(t, 1, o.parts[0])
	o.part2 = o.MustSign(t, 2, o.parts[1])
	mustDo(t, o.Store.Begin(t.Context(), "outputs/aborted", 100, 100))
	return o
}

// away asks every verb that needs the disk.
func (o *outage) away(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	_, _, opened := o.Store.Open(ctx, o.published)
	_, completed := o.Store.Complete(ctx, artifacttest.Key)
	_, again := o.Store.Complete(ctx, o.published)
	_, free := o.Store.(*artifact.Dir).Free()
	for verb, err := range map[string]error{
		"Open": opened, "Complete": completed, "Complete of what is published": again, "Free": free, "Check": o.Store.Check(ctx),
		"Begin": o.Store.Begin(ctx, "outputs/new", 10, 10), "Begin of what is open": o.Store.Begin(ctx, artifacttest.Key, 2*partBytes, partBytes),
		"Drop": o.Store.Drop(ctx, artifacttest.Key, []int{2}), "Delete": o.Store.Delete(ctx, o.published), "Abort": o.Store.Abort(ctx, "outputs/aborted"),
	} {
		if !errors.Is(err, artifact.ErrUnavailable) || errors.Is(err, artifact.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s says %v", verb, err)
		}
	}
	if status := o.Put(t, o.part2, o.parts[1]); status != http.StatusServiceUnavailable {
		t.Errorf("a PUT is answered %d", status)
	}
	if answer, _ := get(t, o.Fixture, http.MethodGet, o.published, "", nil); answer.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a GET is answered %d", answer.StatusCode)
	}
}

// back goes on where the outage began.
func (o *outage) back(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	mustDo(t, o.Store.Check(ctx))
	mustDo(t, o.Store.Abort(ctx, "outputs/aborted"))
	o.MustHold(t, map[int][]byte{1: o.parts[0]})
	o.MustPut(t, 2, o.parts[1])
	o.MustComplete(t, o.object)
	if answer, body := get(t, o.Fixture, http.MethodGet, o.published, "", nil); answer.StatusCode != http.StatusOK || string(body) != "film" {
		t.Errorf("the object comes as %d %q", answer.StatusCode, body)
	}
	if left, err := os.ReadDir(filepath.Join(o.folder, "writes")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// F8: a store whose disk went away has not lost its objects, and makes nothing up
// in its place. What needs it waits.
func TestF8_AStoreThatIsAwayHasNotLostItsObjects(t *testing.T) {
	for name, part := range partings {
		t.Run(name, func(t *testing.T) {
			o := newOutage(t, filepath.Join(t.TempDir(), "store"))
			back := part(t, o.folder)
			o.away(t)
			back()
			o.back(t)
		})
	}
	t.Run("its objects are gone", func(t *testing.T) {
		o := newOutage(t, t.TempDir())
		back := moveAside(t, filepath.Join(o.folder, "objects"))
		_, _, opened := o.Store.Open(t.Context(), o.published)
		_, completed := o.Store.Complete(t.Context(), o.published)
		for verb, err := range map[string]error{"Open": opened, "Complete": completed, "Delete": o.Store.Delete(t.Context(), o.published)} {
			if !errors.Is(err, artifact.ErrUnavailable) {
				t.Errorf("%s says %v", verb, err)
			}
		}
		back()
		o.back(t)
	})
}

// A server that is started while its store is away finds it when it comes.
func TestAwaitDir_FindsTheStoreWhenItComes(t *testing.T) {
	for name, part := range partings {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "store")
			o := newOutage(t, folder)
			id := o.Store.(*artifact.Dir).ID()
			back := part(t, folder)
			d, err := artifact.AwaitDir(folder, id, secret, time.Now)
			if name == "an empty mount point" || name == "another store in its place" {
				if !errors.Is(err, artifact.ErrNoStore) || !strings.Contains(err.Error(), "mount") || !strings.Contains(err.Error(), folder) {
					t.Fatalf("a folder that is not the store: %v", err)
				}
				return
			}
			mustDo(t, err)
			o.Fixture = serveDir(t, d)
			if _, err := d.Pending(t.Context()); !errors.Is(err, artifact.ErrUnavailable) || d.ID() != "" {
				t.Fatalf("Pending says %v of store %q", err, d.ID())
			}
			o.away(t)
			back()
			o.back(t)
			if d.ID() != id {
				t.Errorf("its id was %q and is %q", id, d.ID())
			}
		})
	}
}

// What comes after a start without a store must be the very one.
func TestAwaitDir_TakesNoOther(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	d, err := artifact.AwaitDir(folder, strings.Repeat("A", 26), secret, time.Now)
	mustDo(t, err)
	mustDo(t, os.MkdirAll(filepath.Join(folder, "objects"), 0o700)) // what an earlier version has made up
	if err := d.Check(t.Context()); !errors.Is(err, artifact.ErrUnavailable) {
		t.Errorf("a folder without a marker: %v", err)
	}
	mustDo(t, os.RemoveAll(folder))
	mustOpen(t, folder)
	if err := d.Check(t.Context()); !errors.Is(err, artifact.ErrUnavailable) {
		t.Errorf("another store: %v", err)
	}
}

// Stores of earlier versions bear no marker; they get one at the start, as does
// a folder that an operator gives in the place of a lost one.
func TestAwaitDir_TakesOverAStoreWithoutAMarker(t *testing.T) {
	folder := t.TempDir()
	mustDo(t, os.Mkdir(filepath.Join(folder, "objects"), 0o700))
	first, err := artifact.AwaitDir(folder, "", secret, time.Now)
	mustDo(t, err)
	mustDo(t, first.Check(t.Context()))
	if !artifact.IsDir(folder) {
		t.Error("it is no store")
	}
	mustDo(t, os.Remove(filepath.Join(folder, "rendermac-store")))
	second, err := artifact.AwaitDir(folder, first.ID(), secret, time.Now)
	mustDo(t, err)
	if second.ID() != first.ID() || len(first.ID()) != 26 {
		t.Errorf("it was %q and is %q", first.ID(), second.ID())
	}
	for _, torn := range []string{"", "half", first.ID()} { // as a power cut leaves it
		mustDo(t, os.WriteFile(filepath.Join(folder, "rendermac-store"), []byte(torn), 0o600))
		d, err := artifact.AwaitDir(folder, first.ID(), secret, time.Now)
		mustDo(t, err)
		mustDo(t, d.Check(t.Context()))
	}
}

func TestOpenDir_MakesNoFolderAboveItsOwn(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "disk")
	_, err := artifact.OpenDir(filepath.Join(missing, "store"), "", secret, time.Now)
	if err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "mount its disk") {
		t.Errorf("on a disk that is not mounted: %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the disk was made up: %v", err)
	}
}
