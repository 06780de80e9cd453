package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rendermac/agent"
	"rendermac/api"
	"rendermac/config"
)

const (
	demoPreset = "web-720p"
	demoFolder = "rendermac-demo"
)

func demoCommand(g *globals) *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo [FILE]",
		Short: "Watch one real transcode on this machine, from upload to verified result",
		Long: "Runs a server and a paired agent in this process, on a data directory and a port of their own,\n" +
			"and transcodes FILE, or a short clip that it makes. The result is copied to " + demoFolder + "/ here.",
		Example: "  rendermac demo\n  rendermac demo ~/Movies/interview.mov",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := &demo{out: cmd.ErrOrStderr(), keep: keep, started: time.Now()}
			if len(args) > 0 {
				d.file = args[0]
			}
			path, err := d.run(cmd.Context(), g)
			if path != "" {
				fmt.Fprintln(cmd.OutOrStdout(), clean(path))
			}
			if err == nil && keep {
				<-cmd.Context().Done()
			}
			d.end()
			return err
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "stay up afterwards, until Ctrl-C, and keep the data directory")
	return cmd
}

// demo is a whole studio in one process.
type demo struct {
	out     io.Writer
	file    string
	keep    bool
	started time.Time

	data  string
	plant *plant
	leave context.CancelFunc
	left  chan error
}

func (d *demo) run(ctx context.Context, g *globals) (string, error) {
	if d.file != "" {
		if info, err := os.Stat(d.file); err != nil {
			return "", err
		} else if !info.Mode().IsRegular() {
			return "", fmt.Errorf("%s is not a regular file", d.file)
		}
	}
	c, err := d.config(g)
	if err != nil {
		return "", err
	}
	options, err := agentOptions(c, nil)
	if err != nil {
		return "", err
	}
	log := slog.New(slog.DiscardHandler)
	if g.logLevel == "debug" {
		log = slog.Default()
	}
	options.Log = log
	if d.file == "" {
		if d.file, err = makeClip(ctx, options.FFmpeg, d.data); err != nil {
			return "", err
		}
	}
	if err := d.open(ctx, c, options, log); err != nil {
		return "", err
	}
	return d.transcode(ctx)
}

// config is the default one, on a data directory of the demo's own.
func (d *demo) config(g *globals) (c *config.Config, err error) {
	if d.data, err = os.MkdirTemp("", "rendermac-demo-"); err != nil {
		return nil, err
	}
	o := g.options()
	o.Data, o.Flags = d.data, map[string]string{"listen": "127.0.0.1:0"}
	return config.Load(o)
}

// makeClip makes ten seconds of moving picture and sound.
func makeClip(ctx context.Context, ffmpeg, dir string) (string, error) {
	path := filepath.Join(dir, "demo-clip.mov")
	out, err := exec.CommandContext(ctx, ffmpeg, "-nostdin", "-hide_banner", "-loglevel", "error",
		"-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=25:d=10", "-f", "lavfi", "-i", "sine=f=330:r=48000:d=10",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "pcm_s16le", "file:"+path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ffmpeg could not make the demo's clip (%w): %s; run rendermac doctor", err, strings.TrimSpace(string(out)))
	}
	return path, nil
}

func (d *demo) open(ctx context.Context, c *config.Config, options agent.Options, log *slog.Logger) (err error) {
	if d.plant, err = startPlant(ctx, c, log); err != nil {
		return err
	}
	d.say("server   %s, its database and files in %s", d.plant.url, d.data)
	link, err := d.plant.signIn(ctx, c)
	if err != nil {
		return err
	}
	d.say("look on  %s", link)
	if err := ownPairing(ctx, d.plant, c, &options); err != nil {
		return err
	}
	agentCtx, leave := context.WithCancel(context.WithoutCancel(ctx))
	d.leave, d.left = leave, make(chan error, 1)
	go func() { d.left <- agent.Run(agentCtx, options) }()
	d.say("agent    %s, paired; it tries each encoder on one frame", hostName())
	return nil
}

func (d *demo) transcode(ctx context.Context) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		if err := <-d.left; err != nil { // an agent that stops will not finish the job
			cancel(err)
		}
		close(d.left)
	}()
	client := api.NewClient(d.plant.url, d.plant.adminKey, version)
	s := &submission{
		service: "ffmpeg.transcode", preset: demoPreset, wait: true, out: demoFolder, force: true, cancelOnInterrupt: true,
		client: client, board: newBoard(d.out, 1),
	}
	if err := os.MkdirAll(demoFolder, 0o755); err != nil {
		return "", err
	}
	var err error
	if s.job, err = s.request(ctx); err != nil {
		return "", err
	}
	o := s.start(ctx, []string{d.file})[0]
	<-o.done
	s.board.close()
	if fault := o.fault(); fault != nil {
		return "", fault
	}
	path, err := filepath.Abs(o.path)
	if err == nil {
		d.report(o.job, path)
	}
	return path, err
}

// report is what a person wants to know, and may try next.
func (d *demo) report(job *api.Job, path string) {
	a := job.Attempts[len(job.Attempts)-1]
	d.say("")
	d.say("verified by the server itself: bytes, SHA-256 and media")
	d.say("job      %s, attempt %d, epoch %d, on %s", job.ID, a.AttemptNumber, a.LeaseEpoch, clean(a.DeviceName))
	d.say("size     %s (%d bytes)", size(job.Artifact.Bytes), job.Artifact.Bytes)
	d.say("sha256   %s", job.Artifact.SHA256)
	d.say("time     %.1f s in all, %.1f s from submit to verified", time.Since(d.started).Seconds(), job.FinishedAt.Sub(job.CreatedAt).Seconds())
	d.say("")
	self := os.Args[0]
	d.say("Next: make demo FILE=/path/clip.mov, or a server that stays: %s serve --with-agent", self)
	if d.keep {
		d.say("Staying up until Ctrl-C at %s. In another terminal: %s --data %s jobs, or %[2]s --data %[3]s dashboard for a link", d.plant.url, self, d.data)
	}
}

func (d *demo) say(format string, args ...any) { fmt.Fprintf(d.out, format+"\n", args...) }

// end stops what was started, and leaves nothing behind unless asked to.
func (d *demo) end() {
	if d.leave != nil {
		d.leave()
		<-d.left
	}
	if d.plant != nil {
		d.plant.stop()
	}
	if d.data != "" && !d.keep {
		os.RemoveAll(d.data)
	}
}
