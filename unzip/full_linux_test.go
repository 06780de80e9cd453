package unzip_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"rendermac/unzip"
)

// A disk that fills up is no fault of the zip.
func TestExtract_FullDisk(t *testing.T) {
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no tmpfs here: %v", err)
	}
	defer syscall.Unmount(small, 0)
	path := filepath.Join(t.TempDir(), "in.zip")
	data := build(t, piece{name: "a/b/c", text: "x"}, piece{name: "big", text: strings.Repeat("x", 1<<19)})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := unzip.Extract(t.Context(), path, filepath.Join(small, "out"), roomy)
	if !errors.Is(err, syscall.ENOSPC) || errors.As(err, new(*unzip.Refused)) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(small); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
