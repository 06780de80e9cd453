package agent

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"rendermac/agentproto"
)

// smallDisk makes dir a disk of its own.
func smallDisk(t *testing.T, dir string, mib int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("a disk of its own takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}

// resize is as if others had filled the disk, or made room on it.
func resize(t *testing.T, dir string, mib int) {
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Error(err)
	}
}

// agentOnSmallDisk is an agent on a disk that has room for its spare and for 32
// MiB, 20 of which are in the cache.
func agentOnSmallDisk(t *testing.T, srv *fakeServer) (a *testAgent, dir string, cached []byte) {
	t.Helper()
	dir = t.TempDir()
	smallDisk(t, dir, spare>>20+32)
	cached = reel()[:20<<20]
	mustFill(t, mustCache(t, filepath.Join(dir, "work", cacheName), 1<<30), cached).release()
	a = startAgentIn(t, srv, dir)
	t.Cleanup(func() { a.end() }) // before the disk goes
	srv.session(1)
	return a, dir, cached
}

func TestCacheGivesWayToARunThatNeedsTheRoom(t *testing.T) {
	srv := newServer(t)
	a, _, cached := agentOnSmallDisk(t, srv)
	srv.offer(srv.session(1), "att_1", reel()[:10<<20], `{}`)
	fetched(srv, "att_1")
	if !has(t, a.cache, cached) {
		t.Error("it gave way too soon")
	}
	srv.offer(srv.session(1), "att_2", reel()[:25<<20], `{}`)
	fetched(srv, "att_2")
	a.over()
	if left := names(t, filepath.Join(a.WorkDir, cacheName)); len(left) != 1 || left[0] != digest(reel()[:25<<20]) {
		t.Errorf("kept: %v", left)
	}
}

// fullOnce fills the disk while the first input is on its way.
func fullOnce(t *testing.T, dir string, content []byte) func(http.ResponseWriter, *http.Request) bool {
	var done atomic.Bool
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !done.CompareAndSwap(false, true) {
			return false
		}
		resize(t, dir, 21)
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		w.Write(content)
		return true
	}
}

func TestCacheGivesWayToADownloadOnAFullDisk(t *testing.T) {
	srv := newServer(t)
	a, dir, cached := agentOnSmallDisk(t, srv)
	content := reel()[:10<<20]
	srv.blob = fullOnce(t, dir, content)
	srv.offer(srv.session(1), "att_1", content, `{}`)
	fetched(srv, "att_1")
	a.over()
	if has(t, a.cache, cached) || !has(t, a.cache, content) {
		t.Errorf("kept: %v", names(t, filepath.Join(a.WorkDir, cacheName)))
	}
}

func TestDownloadOnAFullDiskLeavesNothing(t *testing.T) {
	srv := newServer(t)
	a, dir, cached := agentOnSmallDisk(t, srv)
	kept, _ := a.cache.hold(digest(cached), int64(len(cached))) // a run uses it
	content := reel()[:10<<20]
	srv.blob = fullOnce(t, dir, content)
	srv.offer(srv.session(1), "att_1", content, `{}`)
	fail := next[*agentproto.Fail](srv, 0, nil)
	if fail.FailureCode != "internal_error" || !strings.Contains(fail.Message, "disk is full") {
		t.Errorf("failed as %s: %s", fail.FailureCode, fail.Message)
	}
	a.over()
	kept.release()
	if left := names(t, filepath.Join(a.WorkDir, cacheName)); len(left) != 1 || left[0] != digest(cached) {
		t.Errorf("kept: %v", left)
	}
}
