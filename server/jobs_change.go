package server

import (
	"context"

	"rendermac/api"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
)

// retryJob submits the request of a job that has ended once more, on the job's
// own account: with what service, presets, prices and inputs are today.
func (s *Server) retryJob(ctx context.Context, c call, in *jobID) (*made[api.Job], error) {
	var job store.NewJob
	if !c.made.Replayed {
		old, err := s.visibleJob(ctx, c, in.ID)
		if err == nil {
			err = store.CheckRetry(old.Status)
		}
		if err == nil {
			job, err = s.again(ctx, old)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.makeJob(ctx, c, job)
}

// again is the job that repeats another: but for the deadline, which is over.
func (s *Server) again(ctx context.Context, old store.Job) (store.NewJob, error) {
	was := showItem(old)
	check := jobCheck{Server: s, r: api.JobRequest{
		Service: was.Service, Params: was.Params, Inputs: was.Inputs, Priority: &was.Priority, MaxAttempts: &was.MaxAttempts, Requires: was.Requires,
		WebhookURL: was.WebhookURL, WebhookEvents: was.WebhookEvents, OutputName: was.OutputName, Labels: was.Labels,
	}}
	if err := check.run(ctx, old.AccountID); err != nil {
		return check.job, err
	}
	if len(check.faults) > 0 {
		return check.job, huma.Error422UnprocessableEntity("", check.faults...)
	}
	check.job.RetryOf = old.ID
	return check.job, nil
}

// changeJob moves a queued job in its queue.
func (s *Server) changeJob(ctx context.Context, c call, in *struct {
	ID   string `path:"id"`
	Body api.JobChange
},
) (*body[api.Job], error) {
	if err := s.o.DB.Prioritize(ctx, c.only(), in.ID, in.Body.Priority); err != nil {
		return nil, err
	}
	s.matcher.wake()
	s.o.Log.Info("job prioritized", "job", in.ID, "priority", in.Body.Priority)
	return s.wholeJob(ctx, in.ID)
}
