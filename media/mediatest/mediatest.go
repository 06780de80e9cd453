// Package mediatest makes real media files for tests, with the ffmpeg of this
// machine.
package mediatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	once   sync.Once
	folder string
	failed error
)

// Samples is the folder of awkward files that shared/samples/make-media.sh
// makes, once for each test binary. Main removes it.
func Samples(tb testing.TB) string {
	tb.Helper()
	script := filepath.Join(root(tb), "..", "shared", "samples", "make-media.sh")
	if _, err := os.Stat(script); err != nil {
		tb.Skipf("the sample script is not beside this checkout: %v", err)
	}
	once.Do(func() {
		if folder, failed = os.MkdirTemp("", "rendermac-samples-"); failed != nil {
			return
		}
		if out, err := exec.Command("bash", script, folder).CombinedOutput(); err != nil {
			tb.Logf("%s", out)
			failed = err
		}
	})
	if failed != nil {
		tb.Fatalf("making the samples: %v", failed)
	}
	return folder
}

// Main runs the tests and removes the samples.
func Main(m *testing.M) {
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

// Clip runs ffmpeg with args and the path of a new file, which it returns.
func Clip(tb testing.TB, name string, args ...string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	args = append([]string{"-hide_banner", "-loglevel", "error", "-nostdin", "-y"}, append(args, "file:"+path)...)
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		tb.Fatalf("ffmpeg %q: %v\n%s", args, err, out)
	}
	return path
}

// root is the folder of go.mod.
func root(tb testing.TB) string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	tb.Fatal("the tests run outside the module")
	return ""
}
