package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rendermac/lasting"
)

// lock makes dir, which is this user's alone, and holds the lock of that name in
// it until the file is closed or the process ends, however it ends.
func lock(dir, name string) (*os.File, error) {
	if err := lasting.MakeFolder(dir); err != nil {
		return nil, fmt.Errorf("make the agent's folder: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the agent's lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &StopError{"another agent is already running in " + dir + ": stop it, or give this one a data and work folder of its own"}
	}
	return nil, fmt.Errorf("lock %s: %w", dir, err)
}
