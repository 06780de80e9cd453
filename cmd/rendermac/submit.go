package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"rendermac/api"
)

// submission is what one `rendermac submit` was asked to do.
type submission struct {
	service, preset       string
	paths                 []string // under shared roots: they are not uploaded
	params, labels        []string
	priority, maxAttempts int
	deadline, outputName  string
	tags, webhookEvents   []string
	memoryGB              float64
	webhook, out          string
	wait, force           bool
	cancelOnInterrupt     bool
	intoFolder, noteIdle  bool // -o is a folder; say so where no device can take a job
	client                *api.Client
	job                   api.JobRequest // of every file, but for its input
	board                 *board
}

func submitCommand(g *globals) *cobra.Command {
	s := &submission{}
	cmd := &cobra.Command{
		Use:   "submit FILE… | FOLDER… | --path ROOT/FILE",
		Short: "Upload files and submit a job for each",
		Long: "Uploads files, two at a time in their order, and submits a job for each. A folder stands for the\n" +
			"films in it, or where it has none for its sounds, by name; hidden files, other files and folders\n" +
			"inside it are left out, and said so.\n\n" +
			"A service that joins films (ffmpeg.concat) gets one job of all of them, in the order in which they\n" +
			"are given; its result is named after the first.\n\n" +
			"What cannot be read or is empty is found before anything is uploaded. What fails on the way stops\n" +
			"no other file. An upload that was interrupted, or whose machine went down, goes on where it was\n" +
			"when the file is submitted again.\n\n" +
			"A file on a volume that the server and the Macs mount is named by --path instead, as ROOT/FILE with\n" +
			"the name of the shared root (shared_roots in the server's config): it is not uploaded.\n\n" +
			"On stdout come the jobs' ids, or with -o the paths of the results, a line each in the files' order;\n" +
			"with --json one line of JSON for each file: its job, with file, path and error besides.\n\n" +
			"The exit code is 3 if a job failed, else 4 if one was cancelled, else 1 if a file got no job or its\n" +
			"result was not saved. Without --preset and -p a film becomes H.264 in mp4, as wide and high as it was.",
		Example: "  rendermac submit interview.mov --preset web-1080p\n" +
			"  rendermac submit interview.mov --preset web-720p -p start_s=5 --wait -o interview-web.mp4\n" +
			"  rendermac submit rushes/ --preset prores-proxy --label client=acme -o proxies/\n" +
			"  rendermac submit intro.mov talk.mov credits.mov --service ffmpeg.concat -o evening.mp4\n" +
			"  rendermac submit shot_010.zip --service ffmpeg.frames -p fps=24 --preset prores-422 -o shots/\n" +
			"  rendermac submit --path media/day1/interview.mov --preset web-1080p\n" +
			"  rendermac submit bundle.zip --service remotion.render -p composition=Main -p props='{\"title\": \"Hello\"}' -o hello.mp4\n" +
			"  rendermac submit day1/*.mov day2/*.mov --preset web-1080p --wait --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && len(s.paths) == 0 {
				return errors.New("name the files or folders to submit")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, g, args) },
	}
	s.flags(cmd.Flags())
	return cmd
}

// run finds all that it can before the first upload.
func (s *submission) run(cmd *cobra.Command, g *globals, args []string) (err error) {
	ctx := cmd.Context()
	s.wait, s.noteIdle = s.wait || s.out != "", true
	files, err := s.findFiles(args, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	files = append(files, s.paths...)
	if err := s.checkFlags(files, time.Now()); err != nil {
		return err
	}
	if s.client, err = g.client(); err != nil {
		return err
	}
	if s.job, err = s.request(ctx); err != nil {
		return err
	}
	if err := s.checkOutput(files); err != nil {
		return err
	}
	s.board = newBoard(cmd.ErrOrStderr(), len(files))
	return s.report(cmd, s.start(ctx, files))
}

// request is the job that every file gets. The flags have been checked.
func (s *submission) request(ctx context.Context) (api.JobRequest, error) {
	r := api.JobRequest{Service: s.service, WebhookEvents: s.webhookEvents}
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
	if s.deadline != "" {
		at, _ := moment(s.deadline, time.Now())
		r.AdmissionDeadline = &at
	}
	if len(s.tags) > 0 || s.memoryGB > 0 {
		r.Requires = &api.Requires{Tags: s.tags, MinMemoryGB: given(s.memoryGB)}
	}
	r.Priority, r.MaxAttempts = given(s.priority), given(s.maxAttempts)
	r.WebhookURL, r.OutputName = given(s.webhook), given(s.outputName)
	return r, nil
}

// given is what a flag says, or nil where it was left out.
func given[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}
