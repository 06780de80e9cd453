// Package mediatest makes real media files for tests, with the ffmpeg of this
// machine.
package mediatest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Samples is the folder of awkward files that shared/samples/make-media.sh
// makes. They take some seconds, so that they are kept in the user's cache,
// by the script's digest, for all packages and runs; nobody may change them.
func Samples(tb testing.TB) string {
	tb.Helper()
	script := filepath.Join(root(tb), "..", "shared", "samples", "make-media.sh")
	text, err := os.ReadFile(script)
	if err != nil {
		tb.Skipf("the sample script is not beside this checkout: %v", err)
	}
	folder, err := samples(script, text)
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

var making sync.Mutex

func samples(script string, text []byte) (string, error) {
	making.Lock()
	defer making.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "rendermac-test")
	folder := filepath.Join(cache, fmt.Sprintf("samples-%.6x", sha256.Sum256(text)))
	if exists(folder) {
		return folder, nil
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	// Made beside and renamed, so that a folder of that name is always whole;
	// another test binary may be doing the same.
	fresh, err := os.MkdirTemp(cache, "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if out, err := exec.Command("bash", script, fresh).CombinedOutput(); err != nil {
		return "", fmt.Errorf("making the samples: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, folder); err != nil && !exists(folder) {
		return "", err
	}
	return folder, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
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
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; !exists(filepath.Join(dir, "go.mod")); dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			tb.Fatal("the tests run outside the module")
		}
	}
	return dir
}
