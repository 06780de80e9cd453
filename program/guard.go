// Package program runs external programs: each in a process group of its own,
// under a guard that kills the group when this process dies, however it dies.
package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// guardRole in the environment makes this binary a guard.
const guardRole = "RENDERMAC_GUARD"

// GuardMain is called first thing by main: where this process was started as a
// guard, or in a browser's place (leash.go), it is that, and never returns.
//
// A guard leads the process group of one external program and holds the reading
// end of a pipe whose writing end is the agent's. When that closes, however the
// agent died, it kills the whole group, itself included.
func GuardMain() {
	switch browser := os.Getenv(BrowserRole); {
	case os.Getenv(guardRole) != "":
	case os.Getenv(leashRole) != "":
		holdLeash(os.Getenv(leashRole))
	case browser != "" && filepath.Base(os.Args[0]) == BrowserName:
		fmt.Fprintln(os.Stderr, "the browser cannot be started:", becomeBrowser(browser))
		os.Exit(1)
	default:
		return
	}
	// The group is asked to stop by signals that are not meant for its guard.
	// They are caught, since what is ignored would stay ignored by a child.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	os.Stdout.Write([]byte{'!'}) // the parent waits for this before it starts anything
	io.Copy(io.Discard, os.Stdin)
	killGroup()
}

// killGroup kills this process's group, itself included.
func killGroup() {
	for { // again and again: a child may be on its way into the group right now
		unix.Kill(0, unix.SIGKILL)
		time.Sleep(time.Millisecond)
	}
}

// guard is a running guard, as its parent sees it.
type guard struct {
	cmd  *exec.Cmd
	pipe io.Closer
	gone chan struct{} // closed when it has ended and been waited for
}

func startGuard() (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.Command(self)
	cmd.Env = []string{guardRole + "=1"}
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("make the guard's pipe: %w", err)
	}
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the guard's pipe: %w", err), pipe.Close())
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the guard process: %w", err)
	}
	g := &guard{cmd, pipe, make(chan struct{})}
	_, err = io.ReadFull(ready, make([]byte, 1))
	go func() {
		cmd.Wait() // killed, as it always is
		close(g.gone)
	}()
	if err != nil {
		g.end()
		return nil, fmt.Errorf("the guard process did not start: %w", err)
	}
	return g, nil
}

// signal reaches the whole group. The group's number is the guard's own, which
// nobody else can have before the guard has been waited for.
func (g *guard) signal(s unix.Signal) { unix.Kill(-g.cmd.Process.Pid, s) }

// end kills whatever is left of the group.
func (g *guard) end() {
	select {
	case <-g.gone:
	default:
		g.signal(unix.SIGKILL)
	}
	g.pipe.Close()
	<-g.gone
}
