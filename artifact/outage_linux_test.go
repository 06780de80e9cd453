package artifact_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"rendermac/artifact"
	"rendermac/artifact/artifacttest"
)

// mustBind mounts what is in from at folder; what is mounted again is the same.
func mustBind(t *testing.T, from, folder string) {
	t.Helper()
	if err := syscall.Mount(from, folder, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
}

// mountedOutage is an outage whose store is a disk of its own.
func mountedOutage(t *testing.T) (o *outage, disk string) {
	disk = mustMount(t, "16m") // what an unmounted tmpfs held would be lost: this one stays
	mount := t.TempDir()
	mustBind(t, disk, mount)
	return newOutage(t, mount), disk
}

// Between two requests the store keeps nothing open: its disk can be unmounted,
// also by somebody who does not know of it, and is found when it is mounted again.
func TestUnmounted_NothingHoldsTheDisk(t *testing.T) {
	o, disk := mountedOutage(t)
	mustDo(t, syscall.Unmount(o.folder, 0))
	o.away(t)
	if made, err := os.ReadDir(o.folder); err != nil || len(made) > 0 {
		t.Errorf("made below the mount point: %v, %v", made, err)
	}
	mustBind(t, disk, o.folder)
	o.back(t)
}

// The disk is pulled from under a part and a download that are on their way. The
// part does not count, for its place in the journal was not reached; the
// download has what was open.
func TestUnmounted_InTheMiddleOfTransfers(t *testing.T) {
	o, disk := mountedOutage(t)
	slow := startSlow(t, unbound(t, o.Fixture, 2, partBytes), partBytes)
	object, _, err := o.Store.Open(t.Context(), o.published)
	mustDo(t, err)
	defer object.Close()
	if err := syscall.Unmount(o.folder, 0); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("a disk at work was unmounted: %v", err)
	}
	mustDo(t, syscall.Unmount(o.folder, syscall.MNT_DETACH))
	mustDo(t, second(slow.Write(o.parts[1][1:])))
	slow.Close()
	if a := <-slow.answer; a.status != http.StatusServiceUnavailable {
		t.Errorf("a part that is on no disk is answered %+v", a)
	}
	if text, err := io.ReadAll(object); err != nil || string(text) != "film" {
		t.Errorf("read %q, %v", text, err)
	}
	o.away(t)
	mustBind(t, disk, o.folder)
	o.back(t)
}

func second[T any](_ T, err error) error { return err }

func TestReadOnlyDisk(t *testing.T) {
	folder := mustMount(t, "16m")
	o := newOutage(t, folder)
	mustDo(t, syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	ctx := t.Context()
	_, completed := o.Store.Complete(ctx, artifacttest.Key)
	for verb, err := range map[string]error{
		"Begin": o.Store.Begin(ctx, "outputs/new", 10, 10), "Check": o.Store.Check(ctx), "Delete": o.Store.Delete(ctx, o.published),
		"Abort": o.Store.Abort(ctx, "outputs/aborted"), "Drop": o.Store.Drop(ctx, artifacttest.Key, []int{2}),
	} {
		if !errors.Is(err, artifact.ErrUnavailable) {
			t.Errorf("%s says %v", verb, err)
		}
	}
	if !errors.Is(completed, artifact.ErrIncomplete) {
		t.Errorf("Complete says %v", completed)
	}
	if status := o.Put(t, o.part2, o.parts[1]); status != http.StatusServiceUnavailable {
		t.Errorf("a PUT is answered %d", status)
	}
	if answer, body := get(t, o.Fixture, http.MethodGet, o.published, "", nil); answer.StatusCode != http.StatusOK || string(body) != "film" {
		t.Errorf("what can still be read comes as %d %q", answer.StatusCode, body)
	}
	mustDo(t, syscall.Mount("", folder, "", syscall.MS_REMOUNT, ""))
	o.back(t)
}

// broken is a disk that can be pulled like a cable: an ext4 in a file.
type broken struct{ image, folder string }

func newBroken(t *testing.T) broken {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a disk")
	}
	b := broken{filepath.Join(t.TempDir(), "disk"), t.TempDir()}
	mustDo(t, os.WriteFile(b.image, nil, 0o600))
	mustDo(t, os.Truncate(b.image, 32<<20))
	if out, err := exec.Command("mkfs.ext4", "-q", b.image).CombinedOutput(); err != nil {
		t.Skipf("no ext4 can be made here: %v: %s", err, out)
	}
	b.mount(t)
	return b
}

func (b broken) mount(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("mount", "-o", "loop", b.image, b.folder).CombinedOutput(); err != nil {
		t.Skipf("no file can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() { _ = syscall.Unmount(b.folder, syscall.MNT_DETACH) })
}

// pull makes everything an I/O error from now on, also for files that are open.
func (b broken) pull(t *testing.T) {
	t.Helper()
	f, err := os.Open(b.folder)
	mustDo(t, err)
	defer f.Close()
	const shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush := uint32(2)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&noLogFlush))); errno != 0 {
		t.Skipf("this kernel cannot shut a file system down: %v", errno)
	}
}

// A disk whose cable is pulled gives I/O errors; what was held before is held
// when it is plugged in again, and nothing else.
func TestPulledDisk(t *testing.T) {
	disk := newBroken(t)
	o := newOutage(t, disk.folder)
	slow := startSlow(t, unbound(t, o.Fixture, 2, partBytes), partBytes)
	object, _, err := o.Store.Open(t.Context(), o.published)
	mustDo(t, err)
	disk.pull(t)
	mustDo(t, second(slow.Write(o.parts[1][1:])))
	slow.Close()
	if a := <-slow.answer; a.status != http.StatusServiceUnavailable {
		t.Errorf("a part that is on no disk is answered %+v", a)
	}
	if _, err := io.ReadAll(object); err != nil && !errors.Is(err, artifact.ErrUnavailable) { // it may be in memory
		t.Errorf("the object says %v", err)
	}
	object.Close()
	o.away(t)
	mustDo(t, syscall.Unmount(disk.folder, 0)) // nothing holds it, not even now
	o.away(t)
	disk.mount(t)
	o.back(t)
	o.MustRead(t, bytes.Join(o.parts, nil))
}
