package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// submission is what one `rendermac submit` was asked to do.
type submission struct {
	service, preset, webhook string
	params, labels           []string
	priority                 int
	wait, force, json        bool
	cancelOnInterrupt        bool
	out                      string

	noteIdle bool // say so where no device can take a job
	client   *api.Client
	job      api.JobRequest // of every file, but for its input
	board    *board
}

func submitCommand(g *globals) *cobra.Command {
	s := &submission{}
	cmd := &cobra.Command{
		Use:   "submit FILE…",
		Short: "Upload files and submit a job for each",
		Long: "Uploads each file and submits a job for it. The jobs' ids go to stdout, or with -o the\n" +
			"paths of the results. With --wait the exit code is 3 if a job failed, 4 if one was cancelled.\n" +
			"Without --preset and -p a film becomes H.264 in mp4, as wide and high as it was.",
		Example: "  rendermac submit interview.mov --preset web-1080p\n" +
			"  rendermac submit interview.mov --preset web-720p -p start_s=5 --wait -o interview-web.mp4\n" +
			"  rendermac submit rushes/*.mov --preset prores-proxy --label client=acme -o proxies/",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return s.run(cmd, g, files) },
	}
	f := cmd.Flags()
	f.StringVar(&s.service, "service", "ffmpeg.transcode", "the named service")
	f.StringVar(&s.preset, "preset", "", "a preset of the service")
	f.StringArrayVarP(&s.params, "param", "p", nil, "a param as key=value, over the preset's (may be repeated)")
	f.IntVar(&s.priority, "priority", 0, "-100 to 100; higher goes first")
	f.StringArrayVar(&s.labels, "label", nil, "a label as key=value (may be repeated)")
	f.StringVar(&s.webhook, "webhook", "", "a URL to tell when the job has ended (this version keeps the deliveries, a later one sends them)")
	f.BoolVar(&s.wait, "wait", false, "wait until the jobs have ended")
	f.StringVarP(&s.out, "output", "o", "", "write the result to this file, or folder for several files; implies --wait")
	f.BoolVar(&s.force, "force", false, "overwrite files that exist")
	f.BoolVar(&s.cancelOnInterrupt, "cancel-on-interrupt", false, "cancel the jobs on Ctrl-C")
	f.BoolVar(&s.json, "json", false, "print each job as one line of JSON")
	return cmd
}

func (s *submission) run(cmd *cobra.Command, g *globals, files []string) (err error) {
	ctx := cmd.Context()
	s.wait, s.noteIdle = s.wait || s.out != "", true
	if err := s.check(files); err != nil {
		return err
	}
	if s.client, err = g.client(); err != nil {
		return err
	}
	if s.job, err = s.request(ctx); err != nil {
		return err
	}
	s.board = newBoard(cmd.ErrOrStderr(), len(files))
	outcomes := s.each(ctx, files)
	s.board.close()
	for _, o := range outcomes {
		if err := o.print(cmd.OutOrStdout(), s); err != nil {
			return err
		}
		if o.path != "" {
			noteExtension(cmd.ErrOrStderr(), o.job, o.path)
		}
	}
	return verdict(outcomes)
}

// request is the job that every file gets.
func (s *submission) request(ctx context.Context) (api.JobRequest, error) {
	r := api.JobRequest{Service: s.service}
	params, err := s.typedParams(ctx)
	if err != nil {
		return r, err
	}
	if len(params) > 0 {
		if r.Params, err = json.Marshal(params); err != nil {
			return r, err
		}
	}
	if r.Labels, err = pairs("--label", s.labels); err != nil {
		return r, err
	}
	if s.priority != 0 {
		r.Priority = &s.priority
	}
	if s.webhook != "" {
		r.WebhookURL = &s.webhook
	}
	return r, nil
}
