package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A start on a full disk names the folder and the space, whatever it was at.
func TestStartOnAFullDisk(t *testing.T) {
	h := newHouse(t)
	disk := filepath.Join(h.home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("a disk of its own takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	for _, kib := range []int{0, 8, 100, 400} {
		t.Run(fmt.Sprint(kib), func(t *testing.T) {
			data := filepath.Join(disk, fmt.Sprint("data", kib))
			if err := os.Mkdir(data, 0o700); err != nil {
				t.Fatal(err)
			}
			ballast := filepath.Join(disk, "ballast")
			if err := os.WriteFile(ballast, make([]byte, (1024-kib)<<10), 0o600); err != nil {
				t.Fatal(err)
			}
			term := h.open("rendermac serve --listen 127.0.0.1:0 --data " + data)
			<-term.ended
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			says := regexp.MustCompile(`(?m)^rendermac: .*; the disk of the data directory ` + data + ` has [0-9.]+ [kM]?B left: free 64.0 MB there, or choose another with --data$`)
			if said := term.err.String(); term.cmd.ProcessState.ExitCode() != 1 || !says.MatchString(strings.TrimSpace(said)) {
				t.Errorf("with %d KiB it said %q", kib, said)
			}
		})
	}
}
