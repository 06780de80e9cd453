package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"rendermac/fence"
	"rendermac/media"
)

// pass runs ffmpeg once, by a plan. Exit code 0 is never enough: what it said of
// the input counts as well, and checkOutput looks at what it wrote.
func (r *run) pass(ctx context.Context, plan media.Plan, done float64) (*complaints, error) {
	watched, feed, stop := watchdog(ctx, r.a.Stall, failed(fence.InternalError, "ffmpeg made no progress for %s", r.a.Stall))
	defer stop()
	said := r.complaints()
	cmd := command(r.dir, r.a.FFmpeg, plan.Args)
	cmd.Stdout = &lines{each: newProgress(r.report, plan, done, feed).line}
	cmd.Stderr = &lines{each: said.line}
	if err := runGuarded(watched, cmd, r.a.grace); err != nil {
		return said, r.ffmpegFailure(ctx, err, said)
	}
	return said, nil
}

// command is an external program that works in dir, with nothing of the agent's
// environment but what programs need.
func command(dir, program string, args []string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "TMPDIR=" + dir, "AV_LOG_FORCE_NOCOLOR=1"}
	return cmd
}

// ffmpegFailure is why ffmpeg ended without success: told to stop, killed by
// the system, without room, or for a reason that it gave itself.
func (r *run) ffmpegFailure(ctx context.Context, err error, said *complaints) error {
	var f *failure
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil, errors.As(err, &f):
		return err
	case said.diskFull || freeBytes(r.a.WorkDir) < 1<<20:
		return diskFailure(syscall.ENOSPC)
	case !errors.As(err, &exit):
		return failed(fence.InternalError, "ffmpeg could not be run: %s", err)
	case exit.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return failed(fence.InternalError, "the system killed ffmpeg: it may be short of memory")
	case said.damage > 0:
		return failed(fence.RunnerFailed, "the input is damaged: %s", said.summary()+orAccept)
	default:
		return failed(fence.RunnerFailed, "ffmpeg failed (%s): %s", exit, said.lastLine())
	}
}

// checkOutput holds what ffmpeg wrote against the plan.
func (r *run) checkOutput(ctx context.Context, service *media.Service, plan media.Plan, path string) error {
	out, err := r.ffprobe(ctx, path, media.ResultDemuxer(filepath.Ext(path)))
	if info, e := os.Stat(path); e != nil || info.Size() == 0 {
		err = errors.New("ffmpeg wrote nothing: the input may be damaged or cut short")
	}
	if err == nil {
		err = service.CheckOutput(plan, out)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case freeBytes(r.a.WorkDir) < 1<<20:
		return diskFailure(syscall.ENOSPC) // ffmpeg may exit with 0 on a full disk
	default:
		return failed(fence.RunnerFailed, "%s", err)
	}
}

// lines cuts what is written into lines and gives each to a function.
type lines struct {
	each func(string)
	rest []byte
}

// longestLine is where a line is cut: a program may write without end.
const longestLine = 2000

func (l *lines) Write(p []byte) (int, error) {
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			if len(l.rest) > 0 {
				l.each(strings.ToValidUTF8(string(l.rest), "?"))
			}
			l.rest = l.rest[:0]
		case len(l.rest) < longestLine:
			l.rest = append(l.rest, c)
		}
	}
	return len(p), nil
}

// clip is text with at most n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
