package store

import (
	"errors"
	"syscall"

	"rendermac/fence"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsFull says that an error of this package comes of a disk with no space left.
func IsFull(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE // the index of the WAL found none
	}
	return fence.CodeOf(err) == CodeStorageFull || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
