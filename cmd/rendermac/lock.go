package main

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rendermac/lasting"
)

// lockData makes the data directory and keeps a second server off it.
func lockData(dir string) (release func(), err error) {
	if err := lasting.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("the data directory cannot be made: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "server.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be written: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("a server already runs on %s: stop it, or choose another data directory with --data", dir)
	}
	return func() { f.Close() }, nil
}
