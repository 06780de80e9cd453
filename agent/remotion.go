package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/program"
)

// Remotion is the user's own installation of it; both are empty where there is
// none. The service is offered only where a self-test found both.
type Remotion struct {
	Command string // remotion-cli.js, which node runs, or a program that runs it
	Browser string
}

// argv is the program to start, and what comes before the arguments of a plan.
func (m Remotion) argv() (program string, before []string, err error) {
	switch filepath.Ext(m.Command) {
	case ".js", ".cjs", ".mjs":
		node, err := exec.LookPath("node")
		if err != nil {
			return "", nil, errors.New("there is no node on the agent's PATH, which runs " + m.Command)
		}
		return node, []string{m.Command}, nil
	}
	return m.Command, nil, nil
}

// missing is one sentence where the command or the browser is not there.
func (m Remotion) missing() error {
	for key, path := range map[string]string{"command": m.Command, "browser": m.Browser} {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return fmt.Errorf("%s, which agent.remotion.%s names, is not there", path, key)
		}
	}
	return nil
}

// perform runs the program that the plan is for. What comes after Remotion is
// ffmpeg's, and has as many frames.
func (r *run) perform(ctx context.Context, plan media.Plan, params agentproto.RawJSON) (media.Plan, error) {
	if plan.Program == media.Remotion {
		err := r.render(ctx, &plan)
		if err != nil || plan.Next == nil {
			return plan, err
		}
		next, err := plan.Next(nil)
		if err != nil {
			return plan, err
		}
		next.Frames = plan.Frames
		plan = next
	}
	return r.encode(ctx, plan, params)
}

// render runs the user's Remotion by plan, in a folder of its own for temporary
// files, which it leaves full. What it counted goes into the plan.
func (r *run) render(ctx context.Context, plan *media.Plan) error {
	if err := r.room(plan.ExpectBytes, "the output"); err != nil {
		return err
	}
	if err := r.a.Remotion.missing(); err != nil {
		r.log.Error("Remotion is gone", "error", err)
		return failed(fence.RunnerFailed, "this Mac's Remotion is gone: its command or its browser is not there any more")
	}
	cmd, err := r.remotion(plan)
	if err != nil {
		return err
	}
	leash, err := program.NewLeash(r.dir)
	if err != nil {
		return err
	}
	watched, feed, stop := watchdog(ctx, r.a.Stall, failed(fence.InternalError, "Remotion rendered no frame for %s", r.a.Stall))
	defer stop()
	said := newRemotionSays(r, feed)
	cmd.Stdout, cmd.Stderr = program.Lines(said.line), program.Lines(said.line)
	err = program.Run(watched, cmd, r.a.grace)
	leash.End(r.a.grace)
	dropShort(r.dir)
	os.RemoveAll(r.temporary()) // what is left goes with the run's folder
	if err != nil {
		return r.programFailure(ctx, err, "Remotion", said.diskFull, func(exit *exec.ExitError) error {
			return failed(fence.RunnerFailed, "Remotion failed (%s): %s", exit, said.reason())
		})
	}
	if plan.Frames == 0 {
		plan.Frames = said.total
	}
	return nil
}

func (r *run) temporary() string { return filepath.Join(r.dir, "tmp") }

// remotion is the command, ready to start. The empty project in the folder it
// works in keeps it from taking a config file or an environment from above.
func (r *run) remotion(plan *media.Plan) (*exec.Cmd, error) {
	files := append(plan.Files, media.File{Path: filepath.Join(r.dir, "package.json"), Content: []byte("{}")})
	for _, f := range files {
		if err := os.WriteFile(f.Path, f.Content, 0o600); err != nil {
			return nil, diskFailure(fmt.Errorf("write what Remotion reads: %w", err))
		}
	}
	if err := os.Mkdir(r.temporary(), 0o700); err != nil {
		return nil, diskFailure(fmt.Errorf("make Remotion's temporary folder: %w", err))
	}
	temporary, err := shorten(r.dir, r.temporary())
	if err != nil {
		return nil, diskFailure(err)
	}
	cli, before, err := r.a.Remotion.argv()
	if err != nil {
		return nil, failed(fence.RunnerFailed, "%s", err)
	}
	cmd := program.Command(r.dir, cli, append(before, plan.Args...))
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary, "NO_COLOR=1", program.BrowserRole+"="+r.a.Remotion.Browser)
	return cmd, nil
}
