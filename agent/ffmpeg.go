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
	"rendermac/program"
)

// pass runs ffmpeg once, by a plan. Exit code 0 is never enough: what it said of
// the input counts as well, and checkOutput looks at what it wrote.
func (r *run) pass(ctx context.Context, plan media.Plan, done float64) (*complaints, error) {
	watched, feed, stop := watchdog(ctx, r.a.Stall, failed(fence.InternalError, "ffmpeg made no progress for %s", r.a.Stall))
	defer stop()
	said := r.complaints()
	cmd := program.Command(r.dir, r.a.FFmpeg, plan.Args)
	cmd.Stdout = program.Lines(newProgress(r.report, plan, done, feed).line)
	cmd.Stderr = program.Lines(said.line)
	if err := program.Run(watched, cmd, r.a.grace); err != nil {
		return said, r.programFailure(ctx, err, "ffmpeg", said.diskFull, func(exit *exec.ExitError) error { return ffmpegFailure(exit, said) })
	}
	return said, nil
}

// ffmpegFailure is the reason that ffmpeg gave itself.
func ffmpegFailure(exit *exec.ExitError, said *complaints) error {
	if said.damage > 0 {
		return failed(fence.RunnerFailed, "the input is damaged: %s", said.summary()+media.OrAccept)
	}
	return failed(fence.RunnerFailed, "ffmpeg failed (%s): %s", exit, said.lastLine())
}

// programFailure is why a program ended without success: told to stop, killed by
// the system, without room, or for a reason of its own.
func (r *run) programFailure(ctx context.Context, err error, name string, diskFull bool, own func(*exec.ExitError) error) error {
	var f *failure
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil, errors.As(err, &f):
		return err
	case diskFull || freeBytes(r.a.WorkDir) < 1<<20:
		return diskFailure(syscall.ENOSPC)
	case !errors.As(err, &exit):
		return failed(fence.InternalError, "%s could not be run: %s", name, err)
	case exit.ProcessState.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return failed(fence.InternalError, "the system killed %s: it may be short of memory", name)
	}
	return own(exit)
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

// clip is text with at most n bytes.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
