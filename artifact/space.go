package artifact

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Free is the room left where the store lives, in bytes.
func (d *Dir) Free() (int64, error) {
	if err := d.ready(); err != nil {
		return 0, err
	}
	return free(d.root)
}

// free is the room left where the store lives.
func free(root *disk) (left int64, err error) {
	f, err := root.Open(".")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, outOfReach(err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}

// told is an error of the disk as the callers of a Store know it: full, with the
// numbers, or away.
func told(root *disk, err error, need int64) error { return outOfReach(full(root, err, need)) }

// full gives an error that means a full disk, or a used up quota, its numbers.
func full(root *disk, err error, need int64) error {
	if !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.EDQUOT) {
		return err
	}
	left, _ := free(root) // what is reported only
	return &FullError{Need: need, Free: left}
}
