// Package roots opens files under a shared root: a folder that the server and
// the agents all mount. A path is as a stranger sent it, so that everything goes
// through os.Root: neither a name nor a link leads out of the folder.
package roots

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
	"golang.org/x/text/unicode/norm"
)

// MaxPath is the longest path, in bytes, with its root's name: macOS opens no
// longer one.
const MaxPath = 1024

// Split takes ROOT/relative/file apart; fault is what is wrong with it, or "".
func Split(path string) (root, file, fault string) {
	root, file, _ = strings.Cut(path, "/")
	switch {
	case len(path) > MaxPath:
		fault = fmt.Sprintf("is longer than %d bytes", MaxPath)
	case !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl):
		fault = "must be valid UTF-8 without control characters"
	case root == "" || !fs.ValidPath(file) || file == ".":
		fault = "must be like ROOT/folder/file.mov: a shared root's name and a path below it, without . and .. in it"
	}
	return root, file, fault
}

// ErrUnavailable says that a root, or its volume, cannot be used just now.
var ErrUnavailable = errors.New("its folder cannot be opened: is the volume mounted?")

// Fault is one plain sentence on why a file is not to be had, though its root is
// there.
type Fault struct{ Message string }

func (f *Fault) Error() string { return f.Message }

// Check tells whether a root can be used now. The mount point of a volume that
// is not mounted is an empty folder, or none.
func Check(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return unavailable(err)
	}
	defer root.Close()
	return inUse(root)
}

func inUse(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return unavailable(err)
	}
	defer dir.Close()
	if _, err := dir.Readdirnames(1); errors.Is(err, io.EOF) {
		return unavailable(errors.New("it is empty"))
	} else if err != nil {
		return unavailable(err)
	}
	return nil
}

func unavailable(err error) error { return fmt.Errorf("%w (%w)", ErrUnavailable, plain(err)) }

// plain is err without the path on this machine, which is nobody else's business.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Open opens a regular file below folder for reading. Its error is a *Fault, or
// ErrUnavailable. It never waits for a pipe, nor touches a device.
func Open(folder, file string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, unavailable(err)
	}
	defer root.Close()
	for _, spelt := range spellings(file) {
		var f *os.File
		if f, err = open(root, spelt); !errors.Is(err, fs.ErrNotExist) {
			return f, faultOf(err)
		}
	}
	if empty := inUse(root); empty != nil {
		return nil, empty
	}
	return nil, faultOf(err)
}

// spellings are the ways to write the same name in Unicode: volumes, and what
// shares them, differ in the one that they keep.
func spellings(file string) []string {
	return slices.Compact([]string{file, norm.NFC.String(file), norm.NFD.String(file)})
}

// open looks before it opens, since to open some devices does something, and
// again at what it has opened, which may be another file by then.
func open(root *os.Root, file string) (*os.File, error) {
	info, err := root.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errIrregular
	}
	f, err := root.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var errIrregular = &Fault{"is no regular file"}

// faultOf tells what is wrong with a file from what is wrong with its volume.
func faultOf(err error) error {
	switch {
	case err == nil, err == errIrregular:
		return err
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return &Fault{"is not there"}
	case errors.Is(err, fs.ErrPermission):
		return &Fault{"may not be read: its permissions forbid it"}
	case errors.Is(err, unix.ENAMETOOLONG), errors.Is(err, unix.EINVAL), errors.Is(err, unix.EILSEQ):
		return &Fault{"has a name that no file there can have"}
	case errors.Is(err, unix.ELOOP), isEscape(err):
		return &Fault{"is a link that leads out of its root, or nowhere"}
	}
	return unavailable(err)
}

// isEscape knows os.Root's own refusal, which has no name.
func isEscape(err error) bool {
	return strings.Contains(plain(err).Error(), "escapes from parent")
}
