// Package mediatest makes real media files for tests, with the ffmpeg of this
// machine.
package mediatest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
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
	text, err := os.ReadFile(filepath.Join(root(tb), "..", "shared", "samples", "make-media.sh"))
	if err != nil {
		tb.Skipf("the sample script is not beside this checkout: %v", err)
	}
	return kept(tb, "samples", text, nil)
}

// More is the folder of further kinds, made and kept alike.
func More(tb testing.TB) string {
	tb.Helper()
	return kept(tb, "more", more, map[string][]byte{"pgs.sup": pgs()})
}

//go:embed more.sh
var more []byte

var making sync.Mutex

// kept is the folder that a script makes of an empty one with the files given.
func kept(tb testing.TB, kind string, script []byte, files map[string][]byte) string {
	tb.Helper()
	making.Lock()
	defer making.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "rendermac-test")
	folder := filepath.Join(cache, fmt.Sprintf("%s-%.6x", kind, sha256.Sum256(script)))
	if exists(folder) {
		return folder
	}
	if err := fill(cache, folder, script, files); err != nil && !exists(folder) {
		tb.Fatal(err)
	}
	return folder
}

// fill makes the folder beside its place and renames it, so that a folder of
// that name is always whole: another test binary may be doing the same.
func fill(cache, folder string, script []byte, files map[string][]byte) error {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(cache, "making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(fresh, name), data, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command("bash", "-s", fresh)
	cmd.Stdin = bytes.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("making the samples: %w\n%s", err, out)
	}
	return os.Rename(fresh, folder)
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
