package artifact

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"rendermac/failpoint"
)

// Complete implements Store.
func (d *Dir) Complete(ctx context.Context, key string) (Info, error) {
	if err := d.ready(); err != nil {
		return Info{}, err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return Info{}, err
	}
	defer unlock()
	if err := d.root.reach(); err != nil { // no word on what is missing from a store that is away
		return Info{}, err
	}
	if w := d.find(key); w != nil {
		if err := d.publish(w); err != nil {
			return Info{}, told(d.root, err, w.bytes)
		}
	}
	info, err := d.stat(key)
	if err != nil || info.SHA256 != "" {
		return info, err
	}
	info, err = d.seal(ctx, info)
	return info, told(d.root, err, int64(len(info.SHA256)))
}

// publish moves a whole write to its key. The order is F16's: nobody writes any
// more, the bytes last, nobody may write any more, and only then the name.
func (d *Dir) publish(w *write) error {
	w.freeze(everyPart)
	published := false
	defer func() { w.thaw(published) }()
	if !w.complete() {
		return ErrIncomplete
	}
	// A publication that a crash or a full disk cut short has left it read-only.
	err := d.root.Chmod(w.dataName(), 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return cmp.Or(w.anew(), ErrIncomplete)
	}
	if err != nil {
		return err
	}
	f, err := d.root.OpenFile(w.dataName(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	failpoint.At("artifact.publish.sync.before")
	// A write that has become smaller may have a longer file.
	if err := errors.Join(f.Truncate(w.bytes), f.Chmod(0o444), f.Sync(), f.Close()); err != nil {
		return err
	}
	d.tree.Lock()
	defer d.tree.Unlock()
	object := path.Join(folderObjects, w.key)
	if err := d.root.MkdirAll(path.Dir(object), 0o700); err != nil {
		return err
	}
	failpoint.At("artifact.publish.rename.before")
	if err := d.root.Rename(w.dataName(), object); err != nil {
		return err
	}
	failpoint.At("artifact.publish.rename.after")
	published = true
	d.forget(w.key)
	return nil
}

// seal makes a published object last and hashes it. It is done again, whole,
// until the digest has been noted down.
func (d *Dir) seal(ctx context.Context, info Info) (Info, error) {
	object := path.Join(folderObjects, info.Key)
	if err := syncUp(d.root, object); err != nil {
		return Info{}, err
	}
	if err := newWrite(d.root, nameOf(info.Key)).remove(); err != nil { // the journal, which is of no use now
		return Info{}, err
	}
	f, err := d.root.Open(object)
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	n, sum, err := stream(io.Discard, withContext{ctx, f})
	if err != nil {
		return Info{}, err
	}
	info.Bytes, info.SHA256 = n, sum
	failpoint.At("artifact.hash.after")
	return info, d.note(info)
}

// note writes the digest down beside the object. A torn note reads as none.
func (d *Dir) note(info Info) error {
	d.tree.Lock()
	defer d.tree.Unlock()
	name := path.Join(folderDigests, info.Key)
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	failpoint.At("artifact.digest.write.before")
	_, err = f.WriteString(info.SHA256 + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	failpoint.At("artifact.digest.write.after")
	return err
}

// stat describes a published object.
func (d *Dir) stat(key string) (Info, error) {
	f, info, err := d.open(key)
	if err != nil {
		return Info{}, err
	}
	return info, f.Close()
}

// Open implements Store.
func (d *Dir) Open(_ context.Context, key string) (Object, Info, error) {
	f, info, err := d.open(key)
	if err != nil {
		return nil, Info{}, err
	}
	return object{f}, info, nil
}

// object says what a disk that goes away while it is read says.
type object struct{ *os.File }

// Local is the file itself, for a program that must have one.
func (o object) Local() *os.File { return o.File }

func (o object) Read(p []byte) (int, error) {
	n, err := o.File.Read(p)
	return n, outOfReach(err)
}

func (o object) ReadAt(p []byte, at int64) (int, error) {
	n, err := o.File.ReadAt(p, at)
	return n, outOfReach(err)
}

func (d *Dir) open(key string) (*os.File, Info, error) {
	if err := cmp.Or(CheckKey(key), d.ready()); err != nil {
		return nil, Info{}, err
	}
	f, err := d.root.Open(path.Join(folderObjects, key))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, Info{}, cmp.Or(d.away(folderObjects), ErrNotFound)
	}
	if err != nil {
		return nil, Info{}, err
	}
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = ErrNotFound
	}
	if err != nil {
		f.Close()
		return nil, Info{}, outOfReach(err)
	}
	return f, Info{Key: key, Bytes: stat.Size(), SHA256: d.noted(key)}, nil
}

// away is the error of a store whose own folder is not there, as when somebody
// moved it aside. That says nothing of the objects: they are not "not found".
func (d *Dir) away(folder string) error {
	info, err := d.root.Stat(folder)
	if err == nil && !info.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return unavailable(fmt.Errorf("its folder %s: %w", folder, err))
	}
	return nil
}

func (d *Dir) noted(key string) string {
	text, err := d.root.ReadFile(path.Join(folderDigests, key))
	sum, whole := strings.CutSuffix(string(text), "\n")
	if _, bad := hex.DecodeString(sum); err != nil || !whole || bad != nil || len(sum) != 64 {
		return ""
	}
	return sum
}

// Delete implements Store.
func (d *Dir) Delete(ctx context.Context, key string) error {
	if err := cmp.Or(CheckKey(key), d.ready()); err != nil {
		return err
	}
	unlock, err := d.lock(ctx, key)
	if err != nil {
		return err
	}
	defer unlock()
	return told(d.root, d.delete(key), 0)
}

func (d *Dir) delete(key string) error {
	d.tree.Lock()
	defer d.tree.Unlock()
	failpoint.At("artifact.delete.before")
	// The digest first: an object without one is only hashed again, while the
	// digest of another object under the same key would be a lie.
	if err := d.prune(path.Join(folderDigests, key)); err != nil {
		return err
	}
	failpoint.At("artifact.delete.digest.after")
	err := d.prune(path.Join(folderObjects, key))
	failpoint.At("artifact.delete.after")
	return err
}

// prune removes a file and the folders above it that it leaves empty.
func (d *Dir) prune(name string) error {
	err := d.root.Remove(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		folder, _, _ := strings.Cut(name, "/")
		return d.away(folder)
	}
	if err != nil {
		return err
	}
	for name = path.Dir(name); strings.Contains(name, "/"); name = path.Dir(name) {
		if d.root.Remove(name) != nil { // not empty
			break
		}
	}
	return syncFolder(d.root, name)
}
