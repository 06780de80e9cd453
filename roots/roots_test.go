package roots_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/roots"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// volume is a root with a file in it, and a secret beside it.
func volume(t *testing.T) (root, secret string) {
	t.Helper()
	dir := t.TempDir()
	root, secret = filepath.Join(dir, "root"), filepath.Join(dir, "secret")
	must(t, os.MkdirAll(filepath.Join(root, "day1"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, "day1", "a.mov"), []byte("clip"), 0o644))
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	return root, secret
}

// read is what Open finds.
func read(t *testing.T, root, file string) (string, error) {
	t.Helper()
	f, err := roots.Open(root, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	must(t, err)
	return string(text), nil
}

func TestSplit(t *testing.T) {
	root, file, fault := roots.Split("media/day1/a b.mov")
	if root != "media" || file != "day1/a b.mov" || fault != "" {
		t.Errorf("%q %q %q", root, file, fault)
	}
	long := "media/" + strings.Repeat("d/", roots.MaxPath/2)
	for _, path := range []string{
		"", "media", "media/", "/media/a", "/", "//", "media//a", "media/a/", "media/.", "media/..", "media/../a", "media/a/../b", "media/./a",
		"/etc/passwd", "media//etc/passwd", "media/a\x00b", "media/a\nb", "media/\x7f", "media/\u0085", "media/\xff", "\x00/a", long,
	} {
		if _, _, fault := roots.Split(path); fault == "" {
			t.Errorf("%q was taken", path)
		}
	}
}

// What is below the root, by name or by a link that stays there, is found.
func TestOpen_WhatIsThere(t *testing.T) {
	root, _ := volume(t)
	must(t, os.Symlink("day1", filepath.Join(root, "today")))
	must(t, os.Symlink("a.mov", filepath.Join(root, "day1", "link.mov")))
	must(t, os.Symlink("../day1/a.mov", filepath.Join(root, "day1", "round.mov")))
	must(t, os.Symlink(root, root+"-link"))
	for _, at := range []struct{ root, file string }{
		{root, "day1/a.mov"}, {root, "today/a.mov"}, {root, "day1/link.mov"}, {root, "day1/round.mov"}, {root + "-link", "day1/a.mov"},
	} {
		if text, err := read(t, at.root, at.file); text != "clip" || err != nil {
			t.Errorf("%s: %q, %v", at.file, text, err)
		}
	}
}

// Nothing leads out, and nothing but a regular file is opened.
func TestOpen_HostilePaths(t *testing.T) {
	root, secret := volume(t)
	in := func(name string) string { return filepath.Join(root, name) }
	for name, target := range map[string]string{
		"absolute": secret, "relative": "../secret", "folder": "..", "self": "self", "nowhere": "gone", "device": "/dev/zero", "proc": "/proc/self/environ",
	} {
		must(t, os.Symlink(target, in(name)))
	}
	must(t, unix.Mkfifo(in("pipe"), 0o666))
	l, err := net.Listen("unix", in("socket"))
	must(t, err)
	defer l.Close()
	if err := unix.Mknod(in("zero"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); err != nil { // only root may
		t.Logf("no device file: %v", err)
	}
	for _, file := range []string{
		"absolute", "relative", "folder", "folder/secret", "self", "nowhere", "device", "proc", "pipe", "socket", "zero", "day1", ".", "..", "../secret",
		"day1/../../secret", secret, "/etc/passwd", "gone.mov", "day1/a.mov/b", "DAY1/b.mov", strings.Repeat("n", 300), strings.Repeat("d/", 3000) + "a", "a\x00b",
	} {
		text, err := read(t, root, file)
		var fault *roots.Fault
		if !errors.As(err, &fault) {
			t.Errorf("%.40q: %.20q, %v", file, text, err)
		} else if strings.Contains(fault.Message, root) {
			t.Errorf("%.40q tells where the root is: %s", file, fault)
		}
	}
}

// Whoever swaps a file for a link while it is opened never gets what is outside.
func TestOpen_SwappedForALinkMeanwhile(t *testing.T) {
	root, secret := volume(t)
	at := filepath.Join(root, "day1", "a.mov")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(root, "next")
			switch i % 3 {
			case 0:
				os.Symlink(secret, next)
			case 1:
				os.WriteFile(next, []byte("clip"), 0o644)
			default:
				unix.Mkfifo(next, 0o666)
			}
			os.Rename(next, at)
		}
	}()
	outcomes := map[bool]int{}
	for range 5000 {
		text, err := read(t, root, "day1/a.mov")
		if err == nil && text != "clip" {
			t.Errorf("got %q", text)
		}
		outcomes[err == nil]++
	}
	close(stop)
	<-stopped
	t.Logf("opened %d times, refused %d times", outcomes[true], outcomes[false])
}

// A volume that is not mounted is nobody's missing file.
func TestARootThatIsNotThere(t *testing.T) {
	root, secret := volume(t)
	empty := filepath.Join(t.TempDir(), "mountpoint")
	must(t, os.Mkdir(empty, 0o755))
	must(t, roots.Check(root))
	for _, folder := range []string{root + "-gone", secret, empty} {
		for what, err := range map[string]error{"Check": roots.Check(folder), "Open": func() error { _, err := read(t, folder, "day1/a.mov"); return err }()} {
			if !errors.Is(err, roots.ErrUnavailable) {
				t.Errorf("%s of %s: %v", what, folder, err)
			}
		}
	}
	if _, err := read(t, root, "gone.mov"); errors.Is(err, roots.ErrUnavailable) {
		t.Errorf("a missing file: %v", err)
	}
}

// Names are the same whichever way their Unicode is written.
func TestOpen_EitherUnicodeForm(t *testing.T) {
	const composed, decomposed = "Caf\u00e9.mov", "Cafe\u0301.mov"
	for _, kept := range []string{composed, decomposed} {
		root, _ := volume(t)
		must(t, os.WriteFile(filepath.Join(root, kept), []byte("film"), 0o644))
		for _, asked := range []string{composed, decomposed} {
			if text, err := read(t, root, asked); text != "film" || err != nil {
				t.Errorf("kept as %+q, asked as %+q: %q, %v", kept, asked, text, err)
			}
		}
	}
}

func TestStamp(t *testing.T) {
	root, _ := volume(t)
	path := filepath.Join(root, "day1", "a.mov")
	stamp := func() roots.Stamp {
		f, err := roots.Open(root, "day1/a.mov")
		must(t, err)
		defer f.Close()
		s, err := roots.StampOf(f)
		must(t, err)
		return s
	}
	first := stamp()
	if again := stamp(); again.String() != first.String() || !again.SameBytes(first) || first.Bytes != 4 {
		t.Errorf("untouched: %s, then %s", first, again)
	}
	must(t, os.Chmod(path, 0o600))
	if s := stamp(); !s.SameBytes(first) {
		t.Error("another mode counts as other bytes")
	}
	now := time.Now()
	if first.Rested(now) || !first.Rested(now.Add(time.Minute)) {
		t.Error("a file that was just written has rested, or never does")
	}
	// Another file of the same size and time in its place is another file.
	must(t, os.WriteFile(path+".new", []byte("film"), 0o644))
	must(t, os.Chtimes(path+".new", first.Modified, first.Modified))
	must(t, os.Rename(path+".new", path))
	if s := stamp(); s.SameBytes(first) {
		t.Error("a file that was replaced counts as the same")
	}
}
