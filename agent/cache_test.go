package agent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func mustCache(t *testing.T, dir string, most int64) *cache {
	t.Helper()
	c, err := openCache(dir, most, slog.New(slog.NewTextHandler(t.Output(), nil)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bring makes the bytes a fetch: written at once, digest and all.
func bring(content []byte) func(string, func(int64)) error {
	return func(path string, have func(int64)) error {
		have(int64(len(content)))
		return os.WriteFile(path, content, 0o600)
	}
}

func nothingShown(int64) {}

var errFetched = errors.New("it was fetched again")

func refuse(string, func(int64)) error { return errFetched }

// mustFill has a run take the bytes and hold them.
func mustFill(t *testing.T, c *cache, content []byte) *hold {
	t.Helper()
	h, _ := c.hold(digest(content), int64(len(content)))
	if err := h.fill(t.Context(), int64(len(content)), nothingShown, bring(content)); err != nil {
		t.Fatal(err)
	}
	return h
}

// has is whether a run would find the bytes, without asking for them again.
func has(t *testing.T, c *cache, content []byte) bool {
	t.Helper()
	h, _ := c.hold(digest(content), int64(len(content)))
	defer h.release()
	err := h.fill(t.Context(), int64(len(content)), nothingShown, refuse)
	if err != nil && !errors.Is(err, errFetched) {
		t.Fatal(err)
	}
	return err == nil
}

func text(name string, n int) []byte { return bytes.Repeat([]byte(name), n)[:n] }

func TestCacheKeepsToItsBoundOldestFirst(t *testing.T) {
	dir := t.TempDir()
	c := mustCache(t, dir, 250)
	a, b, d := text("a", 100), text("b", 100), text("d", 100)
	mustFill(t, c, a).release()
	mustFill(t, c, b).release()
	if !has(t, c, a) { // now b was used longer ago
		t.Fatal("a is not there")
	}
	mustFill(t, c, d).release()
	if !has(t, c, a) || !has(t, c, d) || has(t, c, b) {
		t.Errorf("left: %v", names(t, dir))
	}
	if kept, err := CacheBytes(dir); err != nil || kept != 0 {
		t.Errorf("a folder without a cache has %d bytes: %v", kept, err)
	}
}

func TestCacheRemembersTheLastUseAcrossARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), cacheName)
	c := mustCache(t, dir, 1000)
	a, b := text("a", 100), text("b", 100)
	mustFill(t, c, a).release()
	mustFill(t, c, b).release()
	has(t, c, a)
	if kept, err := CacheBytes(filepath.Dir(dir)); err != nil || kept != 200 {
		t.Errorf("the cache has %d bytes: %v", kept, err)
	}
	c = mustCache(t, dir, 150) // the bound became lower, too
	if !has(t, c, a) || has(t, c, b) {
		t.Errorf("left: %v", names(t, dir))
	}
}

func TestCacheNeverRemovesWhatARunUses(t *testing.T) {
	c := mustCache(t, t.TempDir(), 150)
	a, b := text("a", 100), text("b", 100)
	held := mustFill(t, c, a)
	mustFill(t, c, b).release()
	if _, err := os.Stat(held.path); err != nil {
		t.Fatalf("what a run uses was removed: %v", err)
	}
	if c.giveWay(func() int64 { return 1 }) {
		t.Error("it gave way with what a run uses")
	}
	if has(t, c, b) {
		t.Error("the bound was not kept to")
	}
	held.release()
	held.release() // once is enough
	if !c.giveWay(func() int64 { return 1 }) || has(t, c, a) {
		t.Error("it did not give way")
	}
}

func TestCacheDoesNotGiveWayInVain(t *testing.T) {
	c := mustCache(t, t.TempDir(), 1000)
	a := text("a", 100)
	mustFill(t, c, a).release()
	if c.giveWay(func() int64 { return 101 }) || !has(t, c, a) {
		t.Error("it gave way, though all of it was not enough")
	}
	h, missing := c.hold(digest([]byte("huge")), 1<<50)
	if h.release(); missing != 1<<50 || !has(t, c, a) {
		t.Error("what can never stay pushed out what can")
	}
}

func TestCacheOfNoBytesKeepsNothingOnceItIsLetGo(t *testing.T) {
	dir := t.TempDir()
	c := mustCache(t, dir, 0)
	a := text("a", 100)
	first := mustFill(t, c, a)
	if !has(t, c, a) {
		t.Error("two runs at a time did not share")
	}
	first.release()
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCacheCountsAndRemovesWhatWasCutOff(t *testing.T) {
	dir := t.TempDir()
	old, young := digest([]byte("old")), digest([]byte("young"))
	for name, age := range map[string]time.Duration{old: 2 * time.Hour, young: time.Hour} {
		write(t, filepath.Join(dir, name+comingSuffix), strings.Repeat("x", 64<<10))
		write(t, filepath.Join(dir, name+comingSuffix+journalSuffix), "{}\n")
		at := time.Now().Add(-age)
		for _, suffix := range []string{comingSuffix, comingSuffix + journalSuffix} {
			if err := os.Chtimes(filepath.Join(dir, name+suffix), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t, filepath.Join(dir, ".DS_Store"), "not ours")
	mustCache(t, dir, 100<<10)
	want := []string{".DS_Store", young + comingSuffix, young + comingSuffix + journalSuffix}
	if left := names(t, dir); !slices.Equal(left, want) {
		t.Errorf("left: %v", left)
	}
}

func TestChangedFileIsNeverUsed(t *testing.T) {
	content := text("content ", 1000)
	rotten := slices.Clone(content)
	rotten[500] ^= 1
	for what, spoil := range map[string]func(t *testing.T, path string){
		"cut":        func(t *testing.T, path string) { rewrite(t, path, content[:999], time.Now()) },
		"rotten":     func(t *testing.T, path string) { rewrite(t, path, rotten, time.Now()) },
		"other file": func(t *testing.T, path string) { replace(t, path, rotten) },
		"gone":       func(t *testing.T, path string) { os.Remove(path) },
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			c := mustCache(t, dir, 1<<20)
			h := mustFill(t, c, content)
			h.release()
			spoil(t, h.path)
			if has(t, c, content) {
				t.Error("it was used")
			}
			mustFill(t, c, content).release() // and can be brought again
			if !has(t, c, content) {
				t.Error("it was not taken again")
			}
		})
	}
}

func TestFileThatRottedUnseenIsFoundAfterAStart(t *testing.T) {
	dir, content := t.TempDir(), text("content ", 1000)
	h := mustFill(t, mustCache(t, dir, 1<<20), content)
	h.release()
	info, err := os.Stat(h.path)
	if err != nil {
		t.Fatal(err)
	}
	rotten := slices.Clone(content)
	rotten[500] ^= 1
	rewrite(t, h.path, rotten, info.ModTime()) // neither size, nor mtime, nor inode tell
	if has(t, mustCache(t, dir, 1<<20), content) {
		t.Error("it was used")
	}
}

func TestTouchedFileIsReadAndUsed(t *testing.T) {
	c, content := mustCache(t, t.TempDir(), 1<<20), text("content ", 1000)
	h := mustFill(t, c, content)
	h.release()
	if err := os.Chtimes(h.path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if !has(t, c, content) {
		t.Error("good bytes were thrown away")
	}
}

func TestCachedFilesAreForTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), cacheName)
	h := mustFill(t, mustCache(t, dir, 1<<20), text("content", 100))
	for path, want := range map[string]os.FileMode{dir: os.ModeDir | 0o700, h.path: 0o400} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s is %v, want %v: %v", path, info.Mode(), want, err)
		}
	}
}

// Whoever is ended before the file has its name leaves one that the next can open.
func TestBytesWithoutTheirNameCanBeGoneOnWith(t *testing.T) {
	c, content := mustCache(t, t.TempDir(), 1<<20), text("content", 100)
	h, _ := c.hold(digest(content), int64(len(content)))
	fetched := func(path string, have func(int64)) error {
		if err := os.MkdirAll(filepath.Join(h.path, "in the way"), 0o700); err != nil {
			return err
		}
		return bring(content)(path, have)
	}
	if err := h.fill(t.Context(), int64(len(content)), nothingShown, fetched); err == nil {
		t.Fatal("it took a folder's name")
	}
	if info, err := os.Stat(h.coming()); err != nil || info.Mode() != 0o600 {
		t.Errorf("it is %v: %v", info.Mode(), err)
	}
}

func TestLinkIsTheSameFileUnderAnotherName(t *testing.T) {
	dir := t.TempDir()
	h := mustFill(t, mustCache(t, filepath.Join(dir, cacheName), 1<<20), text("content", 100))
	own, there := h.link(filepath.Join(dir, "input-1")), h.link(filepath.Join(dir, "no folder", "input-1"))
	mine, err := stampOf(own)
	if cached, _ := stampOf(h.path); own == h.path || err != nil || mine != cached {
		t.Errorf("%s is %v: %v", own, mine, err)
	}
	if there != h.path { // as where the file system knows no links
		t.Errorf("it is used at %s", there)
	}
}

func TestRunsThatWantTheSameWaitForOneFetch(t *testing.T) {
	c, content := mustCache(t, t.TempDir(), 1<<20), text("content", 100)
	first, missing := c.hold(digest(content), 100)
	second, again := c.hold(digest(content), 100)
	if missing != 100 || again != 0 {
		t.Errorf("room for %d and %d bytes", missing, again)
	}
	fetching, waiting := make(chan struct{}), make(chan int64, 10)
	filled := make(chan error, 2)
	go func() {
		filled <- first.fill(t.Context(), 100, nothingShown, func(path string, have func(int64)) error {
			close(fetching)
			for end := time.Now().Add(patience); len(waiting) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
				have(50) // the second may not be waiting yet
			}
			return bring(content)(path, have)
		})
	}()
	<-fetching
	go func() { filled <- second.fill(t.Context(), 100, func(n int64) { waiting <- n }, refuse) }()
	for range 2 {
		if err := <-filled; err != nil {
			t.Error(err)
		}
	}
	if n := <-waiting; n != 50 {
		t.Errorf("the second was shown %d bytes", n)
	}
}

func TestWhoWaitsGoesOnWhenTheFirstGivesUp(t *testing.T) {
	c, content := mustCache(t, t.TempDir(), 1<<20), text("content", 100)
	first, _ := c.hold(digest(content), 100)
	second, _ := c.hold(digest(content), 100)
	third, _ := c.hold(digest(content), 100)
	fetching, end := make(chan struct{}), make(chan struct{})
	filled := make(chan error, 1)
	go func() {
		err := first.fill(t.Context(), 100, nothingShown, func(path string, _ func(int64)) error {
			close(fetching)
			<-end
			return errors.Join(os.WriteFile(path, content[:50], 0o600), errCancelled)
		})
		first.release()
		filled <- err
	}()
	<-fetching
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	if err := third.fill(ctx, 100, nothingShown, refuse); !errors.Is(err, errCancelled) {
		t.Errorf("a run that is cancelled waits on: %v", err)
	}
	close(end)
	err := second.fill(t.Context(), 100, nothingShown, func(path string, have func(int64)) error {
		if there, err := os.ReadFile(path); err != nil || len(there) != 50 {
			t.Errorf("what was there is %d bytes: %v", len(there), err)
		}
		return bring(content)(path, have)
	})
	if cancelled := <-filled; err != nil || !errors.Is(cancelled, errCancelled) {
		t.Errorf("%v, %v", cancelled, err)
	}
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		names = append(names, f.Name())
	}
	return names
}

// rewrite changes a file in its place.
func rewrite(t *testing.T, path string, content []byte, at time.Time) {
	t.Helper()
	err := errors.Join(os.Chmod(path, 0o600), os.WriteFile(path, content, 0), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// replace puts another file in a file's place, as old and as long.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path+".new", string(content))
	err = errors.Join(os.Chtimes(path+".new", info.ModTime(), info.ModTime()), os.Rename(path+".new", path))
	if err != nil {
		t.Fatal(err)
	}
}
