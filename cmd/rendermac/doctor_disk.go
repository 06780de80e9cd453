package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rendermac/agent"
	"rendermac/store"
)

// folder checks that a folder is ours alone and can be written.
func (d *doctor) folder(check, path string) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if parent := existing(path); unix.Access(parent, unix.W_OK) != nil {
			d.fail(check, path+" cannot be made", "make "+parent+" writable for this user, or choose another folder")
			return
		}
		d.ok(check, path+" is made when it is needed")
		return
	case err != nil:
		d.fail(check, err.Error(), "make it readable for this user")
		return
	case !info.IsDir():
		d.fail(check, path+" is no folder", "move it away")
		return
	}
	temp, err := os.CreateTemp(path, ".doctor-*")
	if err != nil {
		d.fail(check, path+" cannot be written", "make it this user's own: chown")
		return
	}
	temp.Close()
	os.Remove(temp.Name())
	if info.Mode().Perm()&0o077 != 0 && path == d.c.Data {
		d.warn(check, path+" is open to other users of this machine", fmt.Sprintf("chmod 700 %q", path))
		return
	}
	d.ok(check, path+" can be written")
}

// database looks at the file from outside: only the store opens it.
func (d *doctor) database() {
	path := filepath.Join(d.c.Data, "rendermac.db")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		d.ok("database", "is made by the first rendermac serve")
		return
	}
	if err != nil {
		d.fail("database", err.Error(), "make it readable for this user")
		return
	}
	defer file.Close()
	const magic = "SQLite format 3\x00"
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(file, head); err != nil || string(head) != magic {
		d.fail("database", path+" is no SQLite database", "restore a backup")
		return
	}
	if info, err := file.Stat(); err == nil && info.Mode().Perm()&0o077 != 0 {
		d.warn("database", path+" is open to other users of this machine", fmt.Sprintf("chmod 600 %q", path))
		return
	}
	d.ok("database", path)
}

// cache says what the agent keeps of inputs, and how much it may.
func (d *doctor) cache() {
	kept, err := agent.CacheBytes(d.c.Agent.WorkDir)
	if err != nil {
		d.fail("cache", err.Error(), "make it readable for this user, or remove it")
		return
	}
	d.ok("cache", fmt.Sprintf("%s of inputs are in the cache (agent.cache: at most %s)", size(kept), size(d.c.Agent.Cache)))
}

const (
	tightSpace  = 20 << 30
	littleSpace = 1 << 30
)

// disk checks the space where outputs and the files of runs go.
func (d *doctor) disk() {
	for _, path := range d.folders() {
		free, err := freeSpace(path)
		text := fmt.Sprintf("%s free for %s", size(free), path)
		switch {
		case err != nil:
			d.fail("disk", err.Error(), "choose another folder")
		case free < littleSpace:
			d.fail("disk", text, "make room, or choose another folder")
		case free < tightSpace:
			d.warn("disk", text, "little for video: make room, or choose another folder")
		default:
			d.ok("disk", text)
		}
	}
}

// freeSpace is what is free at path, or where it will be made.
func freeSpace(path string) (int64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(existing(path), &stat); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), nil
}

// roomToStart is what a data directory should have left at least.
const roomToStart = 64_000_000

// withoutRoom says of a start that failed because the data directory's disk is
// full where that is and how much is left. The artifact store's may be another.
func withoutRoom(err error, data string) error {
	free, unknown := freeSpace(data)
	if !store.IsFull(err) || unknown != nil || free >= roomToStart {
		return err
	}
	return fmt.Errorf("%w; the disk of the data directory %s has %s left: free %s there, or choose another with --data", err, data, size(free), size(roomToStart))
}

// existing is path, or the nearest folder above it that is there.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}
