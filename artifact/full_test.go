//go:build linux

package artifact_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// mustMount gives a file system of that size.
func mustMount(t *testing.T, size string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a small tmpfs")
	}
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

func room(t *testing.T, folder string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// fill leaves little room and returns what makes it again.
func fill(t *testing.T, folder string, leave int64) (free func()) {
	t.Helper()
	name := folder + "/filler"
	if err := os.WriteFile(name, make([]byte, room(t, folder)-leave), 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFull_PartIsRefusedAndRemoved(t *testing.T) {
	folder := mustMount(t, "16m")
	f := serve(t, folder)
	f.PartBytes = 2 << 20
	object := artifacttest.Bytes(1, 3*f.PartBytes)
	parts := artifacttest.Cut(object, f.PartBytes)
	f.MustBegin(t, object)
	f.MustPut(t, 1, parts[0])
	f.MustPut(t, 3, parts[2]) // so that part 2 lies between held ones

	free := fill(t, folder, 1<<20)
	before := room(t, folder)
	for range 3 {
		a := send(t, put(t, t.Context(), f.Base+f.MustSign(t, 2, parts[1]).URL, bytes.NewReader(parts[1]), f.PartBytes))
		if a.status != http.StatusInsufficientStorage || a.Code != "storage_full" || !strings.Contains(a.Detail, "2097152 bytes are needed") {
			t.Fatalf("PUT to a full store: %+v, want 507 storage_full and the space needed", a)
		}
	}
	if after := room(t, folder); after < before {
		t.Errorf("the refused part still takes %d bytes", before-after)
	}
	f.MustHold(t, map[int][]byte{1: parts[0], 3: parts[2]})

	free()
	f = f.Restart()
	f.PartBytes = 2 << 20
	f.MustPut(t, 2, parts[1])
	f.MustComplete(t, object)
}

func TestFull_BeginAndCheck(t *testing.T) {
	folder := mustMount(t, "4m")
	f := serve(t, folder)
	err := f.Store.Begin(t.Context(), artifacttest.Key, 5<<20, 1<<20)
	var full *artifact.FullError
	if !errors.Is(err, artifact.ErrFull) || !errors.As(err, &full) || full.Need != 5<<20 || full.Free > 4<<20 {
		t.Errorf("Begin of more than there is room for: %v, want ErrFull with numbers", err)
	}
	free := fill(t, folder, 0)
	if err := f.Store.Check(t.Context()); !errors.Is(err, artifact.ErrFull) {
		t.Errorf("Check = %v, want ErrFull", err)
	}
	if err := f.Store.Begin(t.Context(), artifacttest.Key, 0, 1<<20); !errors.Is(err, artifact.ErrFull) {
		t.Errorf("Begin on a full disk: %v, want ErrFull", err)
	}
	if left, err := os.ReadDir(folder + "/writes"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	free()
	if err := f.Store.Check(t.Context()); err != nil {
		t.Errorf("Check with room again: %v", err)
	}
	f.MustBegin(t, nil)
}

// The journal runs into the full disk while the data has found room.
func TestFull_Journal(t *testing.T) {
	folder := mustMount(t, "8m")
	f := serve(t, folder)
	f.PartBytes = 100
	object := artifacttest.Bytes(2, 100*100)
	parts := artifacttest.Cut(object, 100)
	f.MustBegin(t, object)
	f.MustPut(t, len(parts), parts[len(parts)-1]) // now the data file has all its pages but the middle ones
	free := fill(t, folder, 4096*2)
	held := map[int][]byte{len(parts): parts[len(parts)-1]}
	refused := false
	for n := 1; n < len(parts); n++ {
		u := f.MustSign(t, n, parts[n-1])
		switch status := f.Put(t, u, parts[n-1]); status {
		case http.StatusOK:
			held[n] = parts[n-1]
		case http.StatusInsufficientStorage:
			refused = true
		default:
			t.Fatalf("part %d: status %d", n, status)
		}
	}
	if !refused {
		t.Fatal("the disk was never full: the test proves nothing")
	}
	f.MustHold(t, held)
	f = f.Restart()
	f.PartBytes = 100
	f.MustHold(t, held)
	free()
	for i, part := range parts {
		if held[i+1] == nil {
			f.MustPut(t, i+1, part)
		}
	}
	f.Restart().MustComplete(t, object)
}
