package main

import (
	"context"
	"errors"
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
			line.end(outcomes[i].summary(), outcomes[i].fault() == nil)
		})
	}
	all.Wait()
	return outcomes
}

// one is the story of one file: upload, submit, wait, download.
func (s *submission) one(ctx context.Context, o *outcome, line *line, turn chan struct{}) error {
	input, err := s.upload(ctx, o.file, line, turn)
	if interrupted(ctx, err) {
		return errors.New("interrupted; nothing was submitted")
	}
	if err != nil {
		return err
	}
	request := s.job
	request.Inputs = []api.Input{{UploadID: &input.ID}}
	if o.job, err = s.client.Submit(ctx, request); err != nil || !s.wait {
		return err
	}
	if err := s.awaitEnd(ctx, o, line); err != nil {
		return s.stopWaiting(ctx, o, err)
	}
	if s.out == "" || o.job.Artifact == nil {
		return nil
	}
	o.path, err = download(ctx, s.client, o.job, s.out, s.force, line)
	if interrupted(ctx, err) {
		err = errors.New("interrupted")
	}
	if err != nil {
		return fmt.Errorf("%w; the result is safe on the server: rendermac jobs download %s -o FILE", err, o.job.ID)
	}
	return nil
}

// awaitEnd follows the job until it has ended.
func (s *submission) awaitEnd(ctx context.Context, o *outcome, line *line) error {
	note := ""
	if s.noteIdle {
		note = idleNote(ctx, s.client, &o.job.JobItem)
	}
	line.say(standing(o.job) + note)
	_, err := s.client.Wait(ctx, o.job.ID, func(now *api.Job) {
		if o.job = now; now.Status != api.JobQueued {
			note = ""
		}
		line.follow(now, note)
	})
	return err
}

// idleNote is what to know of a queued job that no device can take now. It is
// no more than a hint, so a server that does not answer leaves it out.
func idleNote(ctx context.Context, client *api.Client, job *api.JobItem) string {
	if job.Status != api.JobQueued {
		return ""
	}
	service, err := findService(ctx, client, job.Service)
	if err != nil || service.DevicesOnline > 0 {
		return ""
	}
	return ": no Mac is online for it (rendermac devices)"
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
		out := ""
		if s.out != "" {
			out = " -o " + shellWord(s.out)
		}
		return fmt.Errorf("interrupted, but the job goes on; get it later: rendermac jobs download %s%s; stop it: rendermac jobs cancel %s", o.job.ID, out, o.job.ID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	if _, err := s.client.Cancel(ctx, o.job.ID); err != nil {
		return fmt.Errorf("interrupted; job %s could not be cancelled: %w", o.job.ID, err)
	}
	return codedf(exitJobCancelled, "interrupted; job %s is cancelled", o.job.ID)
}
