package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/fence"
)

const fileURLs = time.Hour // how long they last

// redirect is a 302.
type redirect struct {
	Location string `header:"Location" doc:"a signed URL; follow it without the key"`
}

// fileOf asks for a file of a job.
type fileOf struct {
	ID       string `path:"id"`
	Download bool   `query:"download" doc:"have a browser keep the file, even one that it could show"`
}

func (s *Server) getOutput(ctx context.Context, c call, in *fileOf) (*redirect, error) {
	j, err := s.visibleJob(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if j.Status != fence.JobSucceeded || j.Artifact == nil {
		return nil, refuse(http.StatusConflict, api.CodeJobNotSucceeded, "The job has no output; it is "+string(j.Status)+".")
	}
	if at := j.Artifact.DeletedAt; at != nil {
		return nil, deletedFile("The output", *at, "retry the job to make it again, if its inputs are still there")
	}
	return s.fileAt(ctx, c, j.Artifact.Key, j.OutputName, in.Download, "The job has succeeded, but its output is not in the store any more: submit the job again.")
}

// getInput gives what the store holds of a job's input: an upload, or what another
// job has made. A file under a shared root never comes to the store.
func (s *Server) getInput(ctx context.Context, c call, in *struct {
	ID       string `path:"id"`
	Number   int    `path:"n" minimum:"1"`
	Download bool   `query:"download" doc:"have a browser keep the file, even one that it could show"`
},
) (*redirect, error) {
	j, err := s.visibleJob(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	if in.Number > len(j.Inputs) {
		return nil, notFound("input")
	}
	input := j.Inputs[in.Number-1]
	switch {
	case input.JobID != "":
		return s.getOutput(ctx, c, &fileOf{input.JobID, in.Download})
	case input.Path != "":
		return nil, refuse(http.StatusNotFound, api.CodeNotFound, fmt.Sprintf("The store has no copy of this input: read it where it is, at %q under the shared roots.", input.Path))
	case input.DeletedAt != nil:
		return nil, deletedFile("The input", *input.DeletedAt, "upload the file again for another job")
	}
	return s.fileAt(ctx, c, input.Key, input.Name, in.Download, "The input is not in the store any more: upload the file again for another job.")
}

// fileAt leads to an object of the store. One that is not there was lost with the
// store, or the database was restored; lost says so.
func (s *Server) fileAt(ctx context.Context, c call, key, name string, download bool, lost string) (*redirect, error) {
	object, _, err := s.o.Artifacts.Open(ctx, key)
	if errors.Is(err, artifact.ErrNotFound) {
		return nil, refuse(http.StatusNotFound, api.CodeNotFound, lost)
	}
	if err != nil {
		return nil, err
	}
	object.Close()
	sign := s.o.Artifacts.SignGet
	if download {
		sign = s.o.Artifacts.SignSave
	}
	u, err := sign(ctx, key, name, s.o.Now().Add(fileURLs))
	if err != nil {
		return nil, err
	}
	if c.session { // a page may load from where it came from, whatever we call ourselves
		return &redirect{u.URL}, nil
	}
	return &redirect{absolute(s.base(c.echo), u.URL)}, nil
}

func deletedFile(what string, at time.Time, instead string) *refusal {
	return refuse(http.StatusGone, api.CodeOutputDeleted, what+" was deleted by retention on "+at.Format(time.DateOnly)+": "+instead+".")
}
