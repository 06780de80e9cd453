package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"rendermac/media"
	"rendermac/program"
)

// askTime bounds each call of the self-test.
const askTime = 30 * time.Second

var onVersion = regexp.MustCompile(`(?m)^On version: ([0-9][0-9A-Za-z.+-]*)`)

// ProveRemotion asks command and browser for their versions: found names them,
// or the error is one sentence on what is wrong. It renders nothing.
func ProveRemotion(ctx context.Context, m Remotion) (found string, err error) {
	if err := m.missing(); err != nil {
		return "", err
	}
	cli, before, err := m.argv()
	if err != nil {
		return "", err
	}
	// It looks for its packages from the folder it is called in.
	home, err := filepath.EvalSymlinks(m.Command)
	if err != nil {
		return "", err
	}
	said, err := tell(ctx, filepath.Dir(home), cli, append(before, "versions"))
	versions := onVersion.FindAllStringSubmatch(said, -1)
	switch {
	case len(versions) > 1:
		return "", fmt.Errorf("%s mixes packages of several versions: install the same version of each", m.Command)
	case len(versions) == 0:
		return "", fmt.Errorf("%s does not answer as Remotion does (%s)", m.Command, orSaid(err, said))
	}
	browser, err := tell(ctx, os.TempDir(), m.Browser, []string{"--version"})
	if err != nil {
		return "", fmt.Errorf("the browser %s does not run (%s)", m.Browser, orSaid(err, browser))
	}
	return "Remotion " + versions[0][1] + ", " + strings.TrimSpace(clip(browser, 100)), nil
}

// tell is what a program writes to stdout and stderr.
func tell(ctx context.Context, dir, command string, args []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askTime, errors.New("it did not answer in time"))
	defer cancel()
	var said strings.Builder
	cmd := program.Command(os.TempDir(), command, args)
	cmd.Dir = dir
	out := program.Lines(func(line string) {
		if said.Len() < 64<<10 {
			fmt.Fprintln(&said, line)
		}
	})
	cmd.Stdout, cmd.Stderr = out, out
	err := program.Run(ctx, cmd, time.Second)
	return said.String(), err
}

func orSaid(err error, said string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if first == "" && err != nil {
		return err.Error()
	}
	return tidy(first)
}

// offered are the services that this machine can run.
func (a *agent) offered() (names []string) {
	for _, s := range media.All() {
		if s.Program == "" || slices.Contains(a.device.Features, s.Program) {
			names = append(names, s.Name)
		}
	}
	return names
}
