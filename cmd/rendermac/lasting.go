package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// writeLasting writes a file for its owner's eyes. Once it has returned no power
// cut takes the file back: its bytes were synced, and then its name.
func writeLasting(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// makeLasting makes a folder and what is missing above it. Each name is synced:
// whatever is synced inside is lost with a folder whose own name was not.
func makeLasting(folder string) error {
	err := os.Mkdir(folder, 0o700)
	above := filepath.Dir(folder)
	switch {
	case err == nil:
		return syncFolder(above)
	case errors.Is(err, fs.ErrExist):
		return os.MkdirAll(folder, 0o700) // refuses what is no folder
	case !errors.Is(err, fs.ErrNotExist) || above == folder:
		return err
	}
	if err := makeLasting(above); err != nil {
		return err
	}
	return makeLasting(folder)
}

// syncFolder makes the names in a folder last.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
