// Package lasting makes files, and the names of files and folders, outlast a
// power cut: what was written is on the disk only once it was synced, and a new
// name only once its folder was.
package lasting

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile writes a file for its owner's eyes, whole: bytes first, then the
// name.
func WriteFile(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return Folder(filepath.Dir(path))
}

// MakeFolder makes a folder and what is missing above it, for its owner only.
// Whatever is synced inside is lost with a folder whose own name was not.
func MakeFolder(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	err := os.Mkdir(path, 0o700)
	above := filepath.Dir(path)
	if errors.Is(err, fs.ErrNotExist) && above != path {
		if err := MakeFolder(above); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		return err
	}
	if err := Folder(above); !errors.Is(err, fs.ErrPermission) { // one that may be entered and not read is not ours to sync
		return err
	}
	return nil
}

// Folder syncs the names in a folder.
func Folder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Names(f), f.Close())
}

// Names syncs the names in an open folder. A file system that cannot do that,
// as some over a network cannot, has no more to give.
func Names(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}
