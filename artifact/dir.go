package artifact

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rendermac/failpoint"
	"rendermac/lasting"
)

// Dir is the Store in a directory:
//
//	writes/   open writes: a data file and a journal each
//	objects/  published objects under their keys, read-only
//	digests/  the SHA-256 of each, under the same keys
//
// Every name is opened through os.Root, so that no key and no link leads out.
// One process at a time may use a directory.
type Dir struct {
	root *os.Root
	signer
	locks

	mu     sync.Mutex
	writes map[string]*write // by key
	tree   sync.Mutex        // no folder is pruned while a file moves into it
}

const (
	folderObjects = "objects"
	folderDigests = "digests"
	leastSecret   = 32
)

// OpenDir opens the store in folder, making it if need be, and finds the writes
// that were open before. secret signs the URLs: whoever knows it can write. now
// is the clock that their expiry is held against.
func OpenDir(folder string, secret []byte, now func() time.Time) (*Dir, error) {
	if len(secret) < leastSecret {
		return nil, fmt.Errorf("the secret that signs URLs has %d bytes: give it at least %d", len(secret), leastSecret)
	}
	if err := lasting.MakeFolder(folder); err != nil {
		return nil, fmt.Errorf("the store's folder cannot be made: %w", err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("the store's folder cannot be opened: %w", err)
	}
	d := &Dir{root: root, signer: signer{secret, now}, writes: map[string]*write{}}
	if err := d.load(); err != nil {
		root.Close()
		return nil, fmt.Errorf("the store in %s cannot be read: %w", folder, err)
	}
	return d, nil
}

// IsDir says whether a folder is a store already.
func IsDir(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, folderObjects))
	return err == nil && info.IsDir()
}

// Close lets go of the directory. Requests must have ended.
func (d *Dir) Close() error { return d.root.Close() }

// load finds the open writes and sweeps away what is none: a data file whose
// journal never came to be, a journal whose data has been published.
func (d *Dir) load() error {
	for _, folder := range []string{folderWrites, folderObjects, folderDigests} {
		if err := d.root.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	if err := syncFolder(d.root, "."); err != nil {
		return err
	}
	files, err := fs.ReadDir(d.root.FS(), folderWrites)
	if err != nil {
		return err
	}
	for _, file := range files {
		name, isJournal := strings.CutSuffix(file.Name(), ".journal")
		if !isJournal {
			continue
		}
		w := newWrite(d.root, name)
		err := w.load()
		if err == nil {
			d.writes[w.key] = w
		} else if !errors.Is(err, errDamaged) && !errors.Is(err, fs.ErrNotExist) {
			return err // the disk, not the write: take nothing away
		}
	}
	return d.sweep(files)
}

func (d *Dir) sweep(files []fs.DirEntry) error {
	keep := map[string]bool{}
	for _, w := range d.writes {
		keep[w.dataName()], keep[w.journalName()] = true, true
	}
	for _, file := range files {
		if name := folderWrites + "/" + file.Name(); !keep[name] {
			failpoint.At("artifact.sweep.before")
			if err := d.root.Remove(name); err != nil {
				return err
			}
		}
	}
	return syncFolder(d.root, folderWrites)
}

// find returns the open write of key, or nil.
func (d *Dir) find(key string) *write {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes[key]
}

func (d *Dir) forget(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.writes, key)
}

// Check implements Store.
func (d *Dir) Check(context.Context) error {
	name := folderWrites + "/check-" + rand.Text()
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return full(d.root, err, 1)
	}
	_, err = f.Write([]byte("can it write?\n"))
	failpoint.At("artifact.check.after")
	return full(d.root, errors.Join(err, f.Sync(), f.Close(), d.root.Remove(name)), 1)
}

// syncFolder makes the names in a folder last.
func syncFolder(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(lasting.Names(f), f.Close())
}

// syncUp makes a file's name last, and those of all folders above it.
func syncUp(root *os.Root, name string) error {
	for name != "." {
		name = path.Dir(name)
		if err := syncFolder(root, name); err != nil {
			return err
		}
	}
	return nil
}
