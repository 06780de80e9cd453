package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rendermac/api"
)

const (
	// uploadsAtOnce keeps a long list of files from sharing the line so thinly
	// that the first one arrives last.
	uploadsAtOnce = 2
	// watchedAtOnce bounds what is asked of the server and shown of the jobs:
	// they run in about the order in which they came.
	watchedAtOnce = 16
	// graceTime is how long the answer to a submit, or to a cancel, is waited for
	// after Ctrl-C.
	graceTime = 10 * time.Second
)

var (
	errNotSubmitted = errors.New("interrupted before it was submitted")
	errUploadStops  = errors.New("interrupted before it was submitted: the same command goes on with the upload")
)

// start takes every file through its whole story, in their order.
func (s *submission) start(ctx context.Context, files []string) []*outcome {
	outcomes := make([]*outcome, len(files))
	for i, file := range files {
		outcomes[i] = &outcome{file: file, shared: i >= len(files)-len(s.paths), done: make(chan struct{})}
	}
	if s.joins() {
		outcomes[0].others = outcomes[1:]
		outcomes = outcomes[:1]
	}
	upload, watch := make(chan struct{}, uploadsAtOnce), make(chan struct{}, watchedAtOnce)
	go func() {
		for _, o := range outcomes {
			select {
			case upload <- struct{}{}:
			case <-ctx.Done():
			}
			if ctx.Err() != nil {
				o.err = errNotSubmitted
				close(o.done)
				continue
			}
			line := s.board.line(filepath.Base(o.file))
			go func() {
				defer close(o.done)
				o.err = s.one(ctx, o, line, func() { <-upload }, watch)
				line.end(o.summary(), o.fault() == nil)
			}()
		}
	}()
	return outcomes
}

// one is the story of one file: upload, submit, wait, download.
func (s *submission) one(ctx context.Context, o *outcome, line *line, uploaded func(), watch chan struct{}) error {
	err := s.submit(ctx, o, line)
	uploaded()
	if err != nil || !s.wait {
		return err
	}
	line.rest(standing(o.job))
	select {
	case watch <- struct{}{}:
		defer func() { <-watch }()
	case <-ctx.Done():
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

// submit makes the job. Its answer is waited for even after Ctrl-C: else nobody
// could tell whether there is one.
func (s *submission) submit(ctx context.Context, o *outcome, line *line) (err error) {
	request := s.job
	parts := append([]*outcome{o}, o.others...)
	for _, part := range parts {
		input, err := s.input(ctx, part, line)
		if err != nil {
			return err
		}
		request.Inputs = append(request.Inputs, input)
	}
	asking, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(graceTime, stop) })()
	if o.job, err = s.client.Submit(asking, request); err != nil {
		return err
	}
	for i, part := range parts {
		if id := request.Inputs[i].UploadID; id != nil {
			s.client.ForgetUpload(uploadsFolder(), part.file, *id)
		}
	}
	return nil
}

// input is what the job reads: the file once it is uploaded, or where it is
// already.
func (s *submission) input(ctx context.Context, o *outcome, line *line) (api.Input, error) {
	if o.shared {
		return api.Input{Path: &o.file}, nil
	}
	info, err := os.Stat(o.file)
	if err != nil {
		return api.Input{}, plainFault("file", o.file, err)
	}
	line.transfer("uploading", info.Size())
	folder := uploadsFolder()
	goesOn := func(held int64) { line.goesOn("upload", held) }
	upload, err := s.client.ResumeUpload(ctx, o.file, api.Resume{Folder: folder, GoesOn: goesOn, Waits: line.waits}, line.add)
	switch {
	case interrupted(ctx, err) && folder == "":
		return api.Input{}, errNotSubmitted
	case interrupted(ctx, err):
		return api.Input{}, errUploadStops
	case err != nil:
		return api.Input{}, fmt.Errorf("%w; it was not submitted", err)
	}
	return api.Input{UploadID: &upload.ID}, nil
}

// uploadsFolder is where unfinished uploads are remembered, so that the next run
// goes on with them; "" where the user has no folder for it.
func uploadsFolder() string {
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "rendermac", "uploads")
}

// awaitEnd follows the job until it has ended.
func (s *submission) awaitEnd(ctx context.Context, o *outcome, line *line) error {
	note := ""
	if s.noteIdle {
		note = idleNote(ctx, s.client, &o.job.JobItem)
	}
	line.follow(o.job, note)
	_, err := s.client.Wait(ctx, o.job.ID, func(now *api.Job) {
		if o.job = now; now.Status != api.JobQueued {
			note = ""
		}
		line.follow(now, note)
	}, line.waits)
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
