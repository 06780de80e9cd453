package qualify

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rendermac/api"
)

// wholeSize is how large a film TestHaul_Whole takes: 300 MB, to soak 12 GiB.
func wholeSize() int64 {
	if everyPass {
		return 12 << 30
	}
	return 300e6
}

// mayGrow is by how much the server's memory may, whatever a film's size.
const mayGrow = 32 << 20

// A large film goes up, is verified, and comes down whole, and the server's
// memory knows nothing of its size.
func TestHaul_Whole(t *testing.T) {
	for _, on := range shelves {
		t.Run(on.name, func(t *testing.T) {
			size := wholeSize()
			needRoom(t, size*3) // of which a store may hold two while it puts the parts together
			h := newHaul(t, on, size, 64<<20)
			h.pairMac()
			before := h.memory("VmRSS")
			if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", h.server().cmd.Process.Pid), []byte("5"), 0); err != nil {
				t.Fatalf("forget the server's highest memory so far: %v", err)
			}
			var job string
			var done *api.Job
			h.timed("upload", func() { job = h.upload() })
			h.timed("job", func() { done = h.run(job) })
			h.timed("download", func() { h.download(done) })
			highest := h.memory("VmHWM")
			t.Logf("%.0f MB; the server's memory: %.1f MB before, at the highest %.1f MB", mb(size), mb(before), mb(highest))
			if highest-before > mayGrow {
				t.Errorf("the server's memory grew by %d bytes", highest-before)
			}
		})
	}
}

// server is the one that runs now.
func (h *haul) server() *process {
	k := h.keeper["server"]
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now
}

// memory is a line of the server's /proc/PID/status, in bytes.
func (h *haul) memory(name string) (bytes int64) {
	h.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", h.server().cmd.Process.Pid))
	if err != nil {
		h.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), name+":")
	if _, err := fmt.Sscanf(after, "%d kB", &bytes); err != nil {
		h.Fatalf("%s: %v", name, err)
	}
	return bytes << 10
}

// timed does one stretch and says how fast it went. What has been stored is
// sparse again afterwards, else several copies of 12 GiB would stand here.
func (h *haul) timed(what string, do func()) {
	h.Helper()
	began := time.Now()
	do()
	took := time.Since(began)
	h.Logf("%s: %s, %.0f MB/s", what, took.Round(time.Millisecond), mb(h.size)/took.Seconds())
	if h.size < 1<<30 {
		return
	}
	err := filepath.WalkDir(filepath.Dir(h.home), func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the agent is clearing its folder
		}
		if info, _ := d.Info(); err != nil || info == nil || !info.Mode().IsRegular() || info.Size() < h.size {
			return err
		}
		if err := exec.Command("fallocate", "--dig-holes", path).Run(); err != nil && exists(path) {
			return err
		}
		return nil
	})
	if err != nil {
		h.Errorf("make what is stored sparse: %v", err)
	}
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

// needRoom skips what the disk has no room for.
func needRoom(t testing.TB, bytes int64) {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(os.TempDir(), &s); err != nil {
		t.Fatal(err)
	}
	if free := int64(s.Bavail) * s.Bsize; free < bytes {
		t.Skipf("needs %d bytes free in %s: there are %d", bytes, os.TempDir(), free)
	}
}
