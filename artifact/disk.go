package artifact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"rendermac/failpoint"
	"rendermac/lasting"
)

// disk is the folder of a Dir. It may go away and come back, as a disk that is
// unmounted does, so it is opened anew for each use: nothing keeps the disk from
// being unmounted, and what is mounted again is found. Each use looks at the
// store's marker first: an empty mount point, or another disk, is not the store.
type disk struct {
	path string
	id   string // what the marker says; "" until the store was found
}

// marker is the file that tells this store from any other folder.
const (
	marker     = "rendermac-store"
	markerSize = 26
)

// ErrNoStore is a folder that can be read and is not the store that was meant.
var ErrNoStore = errors.New("the folder is not the artifact store")

// awayErrors are what a disk says that is gone, read-only or out of reach. A full
// one is there.
var awayErrors = []error{
	syscall.EIO, syscall.ENXIO, syscall.ENODEV, syscall.EROFS, syscall.EACCES, syscall.EPERM, // a disk
	syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT, syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETUNREACH, // one over a network
}

// outOfReach makes ErrUnavailable of an error that means a disk which is away.
func outOfReach(err error) error {
	if slices.ContainsFunc(awayErrors, func(a error) bool { return errors.Is(err, a) }) {
		return unavailable(err)
	}
	return err
}

// unavailable does not wrap its cause: a folder that is not there must not look
// like an object that is not.
func unavailable(cause error) error {
	if errors.Is(cause, ErrUnavailable) {
		return cause
	}
	return fmt.Errorf("%w: %v", ErrUnavailable, cause)
}

// with opens the folder, as long as it is the store, for one use.
func (k *disk) with(use func(*os.Root) error) error {
	root, err := os.OpenRoot(k.path)
	if err != nil {
		return unavailable(err)
	}
	defer root.Close()
	switch id, err := marked(root); {
	case err != nil:
		return unavailable(err)
	case id != k.id || id == "":
		return unavailable(fmt.Errorf("what is at %s is not the store: is its disk mounted?", k.path))
	}
	return outOfReach(use(root))
}

// terms are on which a folder is taken for the store.
type terms struct {
	id      string // of the marker; "" where it is not known
	mayMake bool   // a store where none is
	late    bool   // not at the start: what comes must be the very one, and what does not is not there yet
}

// reach says whether the store is there just now.
func (k *disk) reach() error { return k.with(func(*os.Root) error { return nil }) }

// find looks for the store at its path for the first time, and keeps what it
// needs to know it again.
func (k *disk) find(t terms) error {
	root, err := os.OpenRoot(k.path)
	if err != nil {
		return unavailable(err)
	}
	defer root.Close()
	id, has, err := look(root)
	switch {
	case err != nil:
		return unavailable(err)
	case id != "" && t.id != "" && id != t.id:
		return k.anothers()
	case !has && !t.mayMake:
		return fmt.Errorf("%w: this server has kept files, and %s holds no store: mount its disk or correct store.path; if the files are lost for good, make the folder %s and start again",
			ErrNoStore, k.path, filepath.Join(k.path, folderObjects))
	case id == "" && t.late && t.id != "":
		return fmt.Errorf("%w: %s bears no marker: start the server again to take it over", ErrNoStore, k.path)
	case id == "":
		if id, err = mark(root, t.id); err != nil {
			return full(k, outOfReach(err), markerSize)
		}
	}
	k.id = id
	return nil
}

// anothers is a store that this server's database did not make. It may be the
// one whose database was lost.
func (k *disk) anothers() error {
	return fmt.Errorf("%w: %s is another server's store, as far as this server's database knows: mount the right disk, correct store.path, or restore the database from its backup; to take over what is in it all the same, remove the file %s and start again",
		ErrNoStore, k.path, filepath.Join(k.path, marker))
}

// look says what the folder's marker says, and whether objects are kept in it.
func look(root *os.Root) (id string, has bool, err error) {
	if id, err = marked(root); err != nil {
		return "", false, err
	}
	info, err := root.Stat(folderObjects)
	if errors.Is(err, fs.ErrNotExist) {
		return id, false, nil
	}
	return id, err == nil && info.IsDir(), err
}

// marked reads the marker; "" is one that is not there, or not whole.
func marked(root *os.Root) (string, error) {
	text, err := root.ReadFile(marker)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	id, whole := strings.CutSuffix(string(text), "\n")
	if !whole || len(id) != markerSize {
		id = ""
	}
	return id, err
}

// mark makes the folder a store. The folders come first: what bears a marker has
// been a store whose objects count.
func mark(root *os.Root, id string) (string, error) {
	if id == "" {
		id = rand.Text()
	}
	if err := root.MkdirAll(folderObjects, 0o700); err != nil {
		return "", err
	}
	failpoint.At("artifact.mark.before")
	f, err := root.OpenFile(marker, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(id + "\n")
	err = errors.Join(err, f.Sync(), f.Close())
	failpoint.At("artifact.mark.after")
	return id, err
}

// IsDir says whether a folder is a store already.
func IsDir(folder string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	_, has, err := look(root)
	return has && err == nil
}

// CheckDir refuses a folder that bears the marker of another store than id.
func CheckDir(folder, id string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil // no store at all
	}
	defer root.Close()
	if found, err := marked(root); err != nil || found == "" || found == id {
		return err
	}
	return (&disk{path: folder}).anothers()
}

// makeFolder makes the store's folder, but none above it: the place of a disk
// that is not mounted is not made up.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the store's folder cannot be made: %w: mount its disk, or make the folder above it", err)
	}
	if err := lasting.Folder(filepath.Dir(path)); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

func (k *disk) OpenFile(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = k.with(func(r *os.Root) (err error) {
		f, err = r.OpenFile(name, flag, perm)
		return err
	})
	return f, err
}

func (k *disk) Open(name string) (*os.File, error) { return k.OpenFile(name, os.O_RDONLY, 0) }

func (k *disk) Stat(name string) (info fs.FileInfo, err error) {
	err = k.with(func(r *os.Root) (err error) {
		info, err = r.Stat(name)
		return err
	})
	return info, err
}

func (k *disk) ReadFile(name string) (text []byte, err error) {
	err = k.with(func(r *os.Root) (err error) {
		text, err = r.ReadFile(name)
		return err
	})
	return text, err
}

func (k *disk) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = k.with(func(r *os.Root) (err error) {
		list, err = fs.ReadDir(r.FS(), name)
		return err
	})
	return list, err
}

func (k *disk) MkdirAll(name string, perm fs.FileMode) error {
	return k.with(func(r *os.Root) error { return r.MkdirAll(name, perm) })
}

func (k *disk) Chmod(name string, mode fs.FileMode) error {
	return k.with(func(r *os.Root) error { return r.Chmod(name, mode) })
}

func (k *disk) Rename(from, to string) error {
	return k.with(func(r *os.Root) error { return r.Rename(from, to) })
}

func (k *disk) Remove(name string) error {
	return k.with(func(r *os.Root) error { return r.Remove(name) })
}
