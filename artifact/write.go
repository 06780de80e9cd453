package artifact

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"rendermac/failpoint"
)

// write is an open multipart write: one data file, in which every part lands at
// its own offset, and its journal. No file stays open between two requests, so
// that what is published can have no writer left (F16).
type write struct {
	root *disk
	name string // of its files, without the ending

	mu sync.Mutex // guards all below; never held while a body is read
	layout
	key, id     string // id is new at every Begin: the old URLs of a key mean nothing to its next write
	held        map[int]Part
	drops       map[int]int // how often a part was dropped
	writers     map[int]*writer
	frozen      chan struct{} // not nil: nobody is let in until it closes
	gone        bool          // published or aborted
	journalSize int64
	broken      bool
}

const folderWrites = "writes"

func newWrite(root *disk, name string) *write {
	return &write{root: root, name: name, held: map[int]Part{}, drops: map[int]int{}, writers: map[int]*writer{}}
}

// nameOf gives a key's files a name of fixed length without folders.
func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

func (w *write) dataName() string    { return folderWrites + "/" + w.name + ".data" }
func (w *write) journalName() string { return folderWrites + "/" + w.name + ".journal" }

// create makes both files; neither counts without the other.
func (w *write) create(key string, l layout) error {
	f, err := w.root.OpenFile(w.dataName(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	failpoint.At("artifact.create.after")
	if err := w.record(entry{Key: key, ID: rand.Text(), Bytes: &l.bytes, PartBytes: l.partBytes}); err != nil {
		return err
	}
	return syncFolder(w.root, folderWrites)
}

// load reads a write that an earlier process left open.
func (w *write) load() error {
	if err := w.replay(); err != nil {
		return err
	}
	data, err := w.root.Stat(w.dataName())
	if err != nil {
		return err
	}
	if nameOf(w.key) != w.name {
		return errDamaged
	}
	for n, p := range w.held {
		if p.Bytes != w.length(n) || w.offset(n)+p.Bytes > data.Size() {
			return errDamaged
		}
	}
	return nil
}

// remove takes the journal away first: data without one is swept at the start.
func (w *write) remove() error {
	removed := false
	for _, name := range []string{w.journalName(), w.dataName()} {
		failpoint.At("artifact.remove.before")
		err := w.root.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removed = removed || err == nil
	}
	failpoint.At("artifact.remove.after")
	if !removed {
		return nil
	}
	return syncFolder(w.root, folderWrites)
}

// drop forgets parts and takes on a new size, both or neither.
func (w *write) drop(numbers []int, size int64) error {
	w.freeze(func(n int) bool { return slices.Contains(numbers, n) })
	defer w.thaw(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.record(entry{Drop: numbers, Bytes: &size})
}

// resize drops the parts that have another length in the new size.
func (w *write) resize(size int64) error {
	old, now := w.layout, layout{size, w.partBytes}
	var numbers []int
	for n := 1; n <= int(max(old.parts(), now.parts())); n++ {
		if old.length(n) != now.length(n) {
			numbers = append(numbers, n)
		}
	}
	return w.drop(numbers, size)
}

// anew begins again where the data has vanished. That nothing is held comes
// first: an empty file must not pass for what was there. The write is frozen.
func (w *write) anew() error {
	_, err := w.root.Stat(w.dataName())
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := w.root.MkdirAll(folderWrites, 0o700); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.record(entry{Drop: slices.Sorted(maps.Keys(w.held))}); err != nil {
		return err
	}
	f, err := w.root.OpenFile(w.dataName(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), syncFolder(w.root, folderWrites))
}

func (w *write) list() []Part {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.SortedFunc(maps.Values(w.held), func(a, b Part) int { return a.Number - b.Number })
}

func (w *write) complete() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return int64(len(w.held)) == w.parts()
}

// missing is how many bytes the write still needs.
func (w *write) missing() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.bytes
	for _, p := range w.held {
		n -= p.Bytes
	}
	return n
}
