package fetch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// lockedFile opens the file for this process alone: two that fetch into one file
// would each take the other's bytes for their own. The kernel takes the lock from
// a process that is killed.
func lockedFile(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, diskError(err)
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			file.Close()
			return nil, Hopeless{fmt.Errorf("%s is being fetched by another process: wait for it, or end it", path)}
		}
		// A file system without locks has none to give.
		if still, err := sameFile(file, path); still || err != nil {
			return file, err
		}
		file.Close() // who held it has just given it its final name
	}
}

func sameFile(file *os.File, path string) (bool, error) {
	open, err := file.Stat()
	if err != nil {
		return false, diskError(err)
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, diskError(err)
	}
	return os.SameFile(open, there), nil
}
