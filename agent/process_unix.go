//go:build unix

package agent

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// runGuarded runs cmd in a process group of its own. When ctx ends the group is
// asked with SIGINT, after grace with SIGTERM, and after grace again killed.
// Whatever cmd left behind is dead when this returns, or when the agent dies.
func runGuarded(ctx context.Context, cmd *exec.Cmd, grace time.Duration) error {
	g, err := startGuard()
	if err != nil {
		return err
	}
	defer g.end()
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pgid: g.group()}
	cmd.WaitDelay = grace // for output that a grandchild holds open
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		stopGroup(g.group(), grace, done)
		return context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it exited with 0; end kills what still holds its output
	}
	return err
}

// stopGroup returns when the process that done speaks for has ended.
func stopGroup(group int, grace time.Duration, done <-chan error) {
	for _, ask := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		unix.Kill(-group, ask)
		select {
		case <-done:
			return
		case <-time.After(grace):
		}
	}
	unix.Kill(-group, unix.SIGKILL)
	<-done
}
