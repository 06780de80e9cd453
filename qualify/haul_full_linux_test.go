package qualify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// smallDisk is a file system of its own with so many bytes.
func smallDisk(t testing.TB, bytes int64) (folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a small tmpfs")
	}
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	return folder
}

// room is what is free there.
func room(t testing.TB, folder string) int64 {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		t.Fatal(err)
	}
	return int64(s.Bavail) * s.Bsize
}

// fill leaves so little room, at once; others may be writing meanwhile.
func fill(t testing.TB, folder string, leave int64) {
	f, err := os.Create(filepath.Join(folder, "filler"))
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for at, n := int64(0), room(t, folder)-leave; n > 0; n = room(t, folder) - leave {
		switch err := syscall.Fallocate(int(f.Fd()), 0, at, n); {
		case err == nil:
			at += n
		case !errors.Is(err, syscall.ENOSPC):
			t.Errorf("fill the disk: %v", err)
			return
		}
	}
}

// The store's disk fills up amid an upload: the client is told how much room is
// needed, what was half written is gone, and once there is room the same upload
// goes on. An agent's upload waits for that room.
func TestHaul_DiskFillsUp(t *testing.T) {
	t.Parallel()
	const size, part = 8 * mib, mib / 4
	disk := smallDisk(t, 4*size)
	h := newHaul(t, shelf{name: "tmpfs", config: func(h *haul) string {
		return fmt.Sprintf("store: {path: %s, part_bytes: %d}\n", filepath.Join(disk, "artifacts"), part)
	}}, size, part)
	h.pairMac()

	h.arm(size/3, func() { fill(t, disk, part/2) })
	p := h.try("submit", h.film, "--preset", "web-480p")
	if p.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(p.said(), "bytes are needed") {
		t.Fatalf("an upload to a full disk: %s: %s", p.cmd.ProcessState, p.said())
	}
	held := h.stored(filepath.Join(disk, "artifacts"))
	if held%part > 64<<10 { // all but the journal and the folders are whole parts
		t.Errorf("%d bytes are stored: a part of %d is half there", held, part)
	}
	free := func() {
		if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
			t.Error(err)
		}
	}
	free()
	before, _ := h.traffic()
	job := h.upload()
	if after, _ := h.traffic(); after-before > size-held+2*inFlight*part {
		t.Errorf("with room again %d bytes were sent, though %d of %d were held", after-before, held, size)
	}

	h.keepAgent()
	h.arm(size+size/3, func() { fill(t, disk, part/2) })
	until(t, "the agent has met the full disk", func() bool { return strings.Contains(h.keeper["agent"].said(), "bytes are needed") })
	free()
	h.download(h.ended(job))
}

// stored is how many bytes the files in a folder take on the disk.
func (h *haul) stored(folder string) (bytes int64) {
	h.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return err
	})
	if err != nil {
		h.Fatal(err)
	}
	return bytes
}
