package main

import (
	"context"
	"errors"
	"fmt"
)

// errGoesOn is that the user has stopped waiting, and nothing else.
var errGoesOn = errors.New("interrupted, but the job goes on")

// stopWaiting asks the server nothing unless the user said so beforehand.
func (s *submission) stopWaiting(ctx context.Context, o *outcome, err error) error {
	switch {
	case !interrupted(ctx, err):
		return fmt.Errorf("%w; the job goes on: rendermac jobs show %s", err, o.job.ID)
	case !s.cancelOnInterrupt:
		return errGoesOn
	}
	return s.cancel(ctx, o)
}

// cancel cancels a job after Ctrl-C.
func (s *submission) cancel(ctx context.Context, o *outcome) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer stop()
	if _, err := s.client.Cancel(ctx, o.job.ID); err != nil {
		return fmt.Errorf("interrupted; job %s could not be cancelled: %w", o.job.ID, err)
	}
	return codedf(exitJobCancelled, "interrupted; job %s is cancelled", o.job.ID)
}
