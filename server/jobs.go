package server

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
)

type jobID struct {
	ID string `path:"id"`
}

func (s *Server) createJob(ctx context.Context, c call, in *jobInput) (*made[api.Job], error) {
	return s.makeJob(ctx, c, in.job)
}

func (s *Server) makeJob(ctx context.Context, c call, job store.NewJob) (*made[api.Job], error) {
	m, err := s.submit(ctx, c, job)
	if err != nil {
		return nil, err
	}
	j, err := s.visibleJob(ctx, c, m.IDs[0]) // an admin may have made it for another account, under a key that others here know
	if err != nil {
		return nil, err
	}
	return madeOf(m, showJob(j)), nil
}

// submit stores jobs, once for their key, and wakes who waits for them.
func (s *Server) submit(ctx context.Context, c call, jobs ...store.NewJob) (store.Made, error) {
	if c.made.Replayed {
		return c.made, nil
	}
	m, err := s.o.DB.SubmitOnce(ctx, c.once, jobs...)
	if err != nil || m.Replayed {
		return m, err
	}
	var soonest time.Time
	for i, j := range jobs {
		soonest = fence.Sooner(soonest, j.Deadline)
		s.o.Log.Info("job submitted", "job", m.IDs[i], "account", j.AccountID, "service", j.Service)
		if path := firstPath(j.Inputs); path != "" {
			s.reader.add(m.IDs[i], path)
		}
	}
	s.submitted(soonest)
	return m, nil
}

func (s *Server) wholeJob(ctx context.Context, id string) (*body[api.Job], error) {
	j, err := s.o.DB.JobByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return answerWith(showJob(j)), nil
}

// visibleJob loads a job that the caller may know of.
func (s *Server) visibleJob(ctx context.Context, c call, id string) (store.Job, error) {
	j, err := s.o.DB.JobByID(ctx, id)
	if err == nil && !c.sees(j.AccountID) {
		err = notFound("job")
	}
	return j, err
}

func (s *Server) getJob(ctx context.Context, c call, in *jobID) (*body[api.Job], error) {
	j, err := s.visibleJob(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	return answerWith(showJob(j)), nil
}

func (s *Server) cancelJob(ctx context.Context, c call, in *jobID) (*body[api.Job], error) {
	if _, err := s.visibleJob(ctx, c, in.ID); err != nil {
		return nil, err
	}
	out, err := s.o.DB.Cancel(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	s.cancelled(out)
	s.o.Log.Info("job cancelled", "job", in.ID, "status", out.Status)
	return s.wholeJob(ctx, in.ID)
}

// text is an answer in plain text.
type text struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *Server) getLog(ctx context.Context, c call, in *struct {
	ID     string `path:"id"`
	Number int    `path:"n" minimum:"1"`
},
) (*text, error) {
	j, err := s.visibleJob(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range j.Attempts {
		if a.Number == in.Number {
			tail, err := s.o.DB.AttemptLog(ctx, a.ID)
			return &text{"text/plain; charset=utf-8", []byte(tail)}, err
		}
	}
	return nil, notFound("attempt")
}

func showJob(j store.Job) api.Job {
	out := api.Job{JobItem: showItem(j), InputMedia: showInputs(j), Attempts: []api.Attempt{}}
	for _, a := range j.Attempts {
		out.Attempts = append(out.Attempts, api.Attempt{
			ID: a.ID, AttemptNumber: a.Number, Status: string(a.Status), DeviceID: a.DeviceID, DeviceName: a.DeviceName, LeaseEpoch: a.Epoch,
			Phase: a.Phase, Fraction: a.Fraction, FPS: a.FPS, Speed: a.Speed, ETASeconds: a.ETA, LeasedAt: a.LeasedAt, EndedAt: a.EndedAt,
			FailureCode: a.FailureCode, FailureMessage: a.FailureMessage,
		})
	}
	return out
}

func showItem(j store.Job) api.JobItem {
	out := api.JobItem{
		ID: j.ID, AccountID: j.AccountID, Status: string(j.Status), Service: j.Service, Params: j.Params, Inputs: []api.Input{},
		Priority: j.Priority, MaxAttempts: j.MaxAttempts, AdmissionDeadline: j.Deadline, WebhookURL: j.WebhookURL, WebhookEvents: j.WebhookEvents,
		OutputName: &j.OutputName, Labels: j.Labels, RetryOf: j.RetryOf, WaitingOn: j.WaitingOn, Reading: j.Reading,
		FailureCode: j.FailureCode, FailureMessage: j.FailureMessage, CreatedAt: j.CreatedAt, StartedAt: j.StartedAt, FinishedAt: j.FinishedAt,
	}
	for _, in := range j.Inputs {
		out.Inputs = append(out.Inputs, api.Input{UploadID: orNil(in.UploadID), JobID: orNil(in.JobID), Path: orNil(in.Path)})
	}
	_ = json.Unmarshal(j.Requires, &out.Requires) // our own row, or nothing
	if j.Hold != nil {
		out.Hold = &api.Hold{Credits: j.Hold.Credits, State: j.Hold.State}
	}
	if a := j.Artifact; a != nil {
		out.Artifact = &api.Artifact{Name: j.OutputName, Bytes: a.Bytes, SHA256: a.SHA256, ContentType: j.ContentType, Media: showMedia(a.Media), Warnings: append([]string{}, a.Warnings...), DeletedAt: a.DeletedAt}
	}
	return out
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
