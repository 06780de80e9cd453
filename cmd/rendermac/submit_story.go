package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"rendermac/api"
)

// uploadsAtOnce keeps a long list of files from sharing the line so thinly that
// the first one arrives last.
const uploadsAtOnce = 2

// each takes every file through its whole story, side by side.
func (s *submission) each(ctx context.Context, files []string) []*outcome {
	outcomes := make([]*outcome, len(files))
	turn := make(chan struct{}, uploadsAtOnce)
	var all sync.WaitGroup
	for i, file := range files {
		outcomes[i] = &outcome{file: file}
		line := s.board.line(filepath.Base(file))
		all.Go(func() {
			outcomes[i].err = s.one(ctx, outcomes[i], line, turn)
			well := outcomes[i].fault() == nil
			if !well && len(files) == 1 {
				line.end("failed", false) // the command's own error says why
				return
			}
			line.end(outcomes[i].summary(), well)
		})
	}
	all.Wait()
	return outcomes
}

// one is the story of one file: upload, submit, wait, download.
func (s *submission) one(ctx context.Context, o *outcome, line *line, turn chan struct{}) error {
	input, err := s.upload(ctx, o.file, line, turn)
	if interrupted(ctx, err) {
		return fmt.Errorf("interrupted; nothing was submitted for %s", o.file)
	}
	if err != nil {
		return err
	}
	request := s.job
	request.Inputs = []api.Input{{UploadID: &input.ID}}
	if o.job, err = s.client.Submit(ctx, request); err != nil || !s.wait {
		return err
	}
	line.say(standing(o.job))
	job, err := s.client.Wait(ctx, o.job.ID, line.follow)
	if err != nil {
		return s.stopWaiting(ctx, o, err)
	}
	o.job = job
	if s.out == "" || job.Artifact == nil {
		return nil
	}
	o.path, err = download(ctx, s.client, job, s.out, s.force, line)
	return err
}

func (s *submission) upload(ctx context.Context, file string, line *line, turn chan struct{}) (*api.UploadDone, error) {
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	line.transfer("uploading "+size(info.Size()), info.Size())
	return s.client.Upload(ctx, file, line.add)
}

// cancelTime bounds the one thing that is asked of the server after Ctrl-C.
const cancelTime = 10 * time.Second

// stopWaiting asks the server nothing unless the user said so beforehand.
func (s *submission) stopWaiting(ctx context.Context, o *outcome, err error) error {
	if !interrupted(ctx, err) {
		return fmt.Errorf("%w; the job goes on: rendermac jobs show %s", err, o.job.ID)
	}
	if !s.cancelOnInterrupt {
		return fmt.Errorf("interrupted; the job goes on: rendermac jobs cancel %s", o.job.ID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	if _, err := s.client.Cancel(ctx, o.job.ID); err != nil {
		return fmt.Errorf("interrupted; job %s could not be cancelled: %w", o.job.ID, err)
	}
	return codedf(exitJobCancelled, "interrupted; job %s is cancelled", o.job.ID)
}
