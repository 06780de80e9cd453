//go:build unix

package program

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"rendermac/failpoint"
)

// Run runs cmd in a process group of its own. When ctx ends the group is
// asked with SIGINT, after grace with SIGTERM, and after grace again killed.
// Whatever cmd leaves behind is killed at the end, or when this process dies.
func Run(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	g, err := startGuard()
	if err != nil {
		return err
	}
	defer g.end()
	failpoint.At("agent.program.before")
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pgid: g.cmd.Process.Pid}
	cmd.WaitDelay = grace // for output that a grandchild holds open
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	failpoint.At("agent.program.started")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-g.gone: // without it, cmd might outlive this process
		g.signal(unix.SIGKILL)
		<-done
		return errors.New("its guard process was killed")
	case <-ctx.Done():
		g.stop(grace, done)
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it exited with 0; end kills what still holds its output
	}
	return err
}

// stop returns when the process that done speaks for has ended.
func (g *guard) stop(grace time.Duration, done <-chan error) {
	for _, ask := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		g.signal(ask)
		select {
		case <-done:
			return
		case <-time.After(grace):
		}
	}
	g.signal(unix.SIGKILL)
	<-done
}
