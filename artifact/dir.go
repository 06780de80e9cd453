package artifact

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"rendermac/failpoint"
	"rendermac/lasting"
)

// Dir is the Store in a directory:
//
//	writes/          open writes: a data file and a journal each
//	objects/         published objects under their keys, read-only
//	digests/         the SHA-256 of each, under the same keys
//	rendermac-store  the marker by which it is known again
//
// Every name is opened through os.Root, so that no key and no link leads out.
// One process at a time may use a directory.
type Dir struct {
	root *disk
	signer
	locks

	finding sync.Mutex // guards the two below
	found   bool       // the folder was there once, and its open writes are known
	terms   terms      // for as long as it was not

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
// that were open before. What it makes bears this id, and what bears another is
// refused; "" takes any, and draws one. secret signs the URLs: whoever knows it can write. now
// is the clock that their expiry is held against.
func OpenDir(folder, id string, secret []byte, now func() time.Time) (*Dir, error) {
	if err := makeFolder(folder); err != nil {
		return nil, err
	}
	d, err := newDir(folder, terms{id: id, mayMake: true}, secret, now)
	if err == nil {
		err = d.ready()
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// AwaitDir opens a store that was made before: the one with this id, or where
// that is "", any. If its disk is away it is found as soon as that is back, and
// until then every verb says ErrUnavailable; nothing is ever made in its place.
func AwaitDir(folder, id string, secret []byte, now func() time.Time) (*Dir, error) {
	d, err := newDir(folder, terms{id: id}, secret, now)
	if err != nil {
		return nil, err
	}
	if err := d.ready(); err != nil && !errors.Is(err, ErrUnavailable) {
		return nil, err
	}
	d.terms.late = true
	return d, nil
}

func newDir(folder string, t terms, secret []byte, now func() time.Time) (*Dir, error) {
	if len(secret) < leastSecret {
		return nil, fmt.Errorf("the secret that signs URLs has %d bytes: give it at least %d", len(secret), leastSecret)
	}
	return &Dir{
		root: &disk{path: folder}, terms: t, signer: signer{secret, now},
		writes: map[string]*write{},
	}, nil
}

// ID is what tells this store from others; "" as long as it was never reached.
func (d *Dir) ID() string {
	d.finding.Lock()
	defer d.finding.Unlock()
	return d.root.id
}

// ready is the first thing that every verb asks: a store that was away when it
// was opened may have come since.
func (d *Dir) ready() error {
	d.finding.Lock()
	defer d.finding.Unlock()
	if d.found {
		return nil
	}
	err := d.root.find(d.terms)
	if err == nil {
		err = d.load()
	}
	if err != nil {
		d.root.id = ""
		if err = outOfReach(err); d.terms.late {
			err = unavailable(err)
		}
		return fmt.Errorf("the store in %s cannot be read: %w", d.root.path, err)
	}
	d.found = true
	return nil
}

// load finds the open writes and sweeps away what is none: a data file whose
// journal never came to be, a journal whose data has been published.
func (d *Dir) load() error {
	clear(d.writes)
	for _, folder := range []string{folderWrites, folderObjects, folderDigests} {
		if err := d.root.MkdirAll(folder, 0o700); err != nil {
			return full(d.root, err, 0)
		}
	}
	if err := syncFolder(d.root, "."); err != nil {
		return err
	}
	files, err := d.root.ReadDir(folderWrites)
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
	if err := d.ready(); err != nil {
		return err
	}
	name := folderWrites + "/check-" + rand.Text()
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return told(d.root, err, 1)
	}
	_, err = f.Write([]byte("can it write?\n"))
	failpoint.At("artifact.check.after")
	return told(d.root, errors.Join(err, f.Sync(), f.Close(), d.root.Remove(name)), 1)
}

// syncFolder makes the names in a folder last.
func syncFolder(root *disk, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(lasting.Names(f), f.Close())
}

// syncUp makes a file's name last, and those of all folders above it.
func syncUp(root *disk, name string) error {
	for name != "." {
		name = path.Dir(name)
		if err := syncFolder(root, name); err != nil {
			return err
		}
	}
	return nil
}
