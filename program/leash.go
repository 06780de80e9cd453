package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Remotion starts its browser in a session and a process group of its own, which
// no signal to the run's group reaches: killed, it would leave the browser behind.
// So the browser that it is given is a link to this binary, in the run's folder,
// which starts a leash holder in the browser's group and then becomes the browser.
// The agent holds a lock on the run's leash. When that is free, because the run is
// over or the agent died, the holder kills the browser's group, itself included.
const (
	BrowserName = "browser" // the link in the run's folder
	leashName   = "leash"
	alikeName   = "browsers" // locked by every browser that runs: free when all are gone

	BrowserRole = "RENDERMAC_BROWSER" // names the real browser
	leashRole   = "RENDERMAC_LEASH"   // names the run's folder
)

// Leash is a run's hold on its browsers.
type Leash struct{ held, browsers *os.File }

// NewLeash makes the link and the locks in the run's folder.
func NewLeash(dir string) (_ *Leash, err error) {
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, BrowserName))
	}
	if err != nil {
		return nil, fmt.Errorf("make the browser's link: %w", err)
	}
	l := &Leash{}
	if l.held, err = os.Create(filepath.Join(dir, leashName)); err == nil {
		err = flock(l.held, unix.LOCK_EX)
	}
	if err == nil {
		l.browsers, err = os.Create(filepath.Join(dir, alikeName))
	}
	if err != nil {
		return nil, fmt.Errorf("make the browser's leash: %w", err)
	}
	return l, nil
}

// End returns when no browser of the run is left, or after patience.
func (l *Leash) End(patience time.Duration) {
	l.held.Close()
	gone := make(chan struct{})
	go func() {
		_ = flock(l.browsers, unix.LOCK_EX)
		l.browsers.Close()
		close(gone)
	}()
	select {
	case <-gone:
	case <-time.After(patience):
	}
}

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// becomeBrowser is this binary in the browser's place. It only returns where
// there is no leash to be on.
func becomeBrowser(browser string) error {
	dir := filepath.Dir(os.Args[0])
	alike, err := os.OpenFile(filepath.Join(dir, alikeName), os.O_RDWR, 0)
	if err == nil {
		err = flock(alike, unix.LOCK_SH)
	}
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	holder := exec.Command(self)
	holder.Env = []string{leashRole + "=" + dir}
	if err := holder.Start(); err != nil {
		return err
	}
	if _, err := unix.FcntlInt(alike.Fd(), unix.F_SETFD, 0); err != nil { // the browser keeps the lock
		return err
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, BrowserRole+"=") })
	return unix.Exec(browser, append([]string{browser}, os.Args[1:]...), env)
}

// holdLeash waits until the run that dir belongs to is over.
func holdLeash(dir string) {
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	if file, err := os.Open(filepath.Join(dir, leashName)); err == nil {
		_ = flock(file, unix.LOCK_SH)
	}
	killGroup()
}
