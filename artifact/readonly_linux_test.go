package artifact_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"rendermac/artifact/artifacttest"
)

// A publication makes the data read-only before it gives them their name. Cut
// short in between, it must go on after the restart; root, who may write to
// anything, does not see whether it does.
func TestF16_APublicationCutShortGoesOnWithoutRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may take on another user's rights: run the tests as root")
	}
	folder := t.TempDir()
	f := serve(t, folder)
	object := artifacttest.Bytes(4, 2*partBytes)
	f.MustBegin(t, object)
	for i, part := range artifacttest.Cut(object, partBytes) {
		f.MustPut(t, i+1, part)
	}
	crashed := copyOf(t, folder)
	if err := os.Chmod(mustFind(t, crashed, ".data"), 0o444); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := os.Chmod(filepath.Dir(crashed), 0o755); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	err := filepath.WalkDir(crashed, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, nobody, nobody)
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // the rights are this thread's alone; it ends with the test
	if err := unix.Setfsuid(nobody); err != nil {
		t.Fatal(err)
	}
	defer unix.Setfsuid(0)
	d := mustOpen(t, crashed)
	info, err := d.Complete(context.Background(), artifacttest.Key)
	if err != nil || info.SHA256 != artifacttest.Sum(object) {
		t.Fatalf("completed as %+v: %v", info, err)
	}
}
