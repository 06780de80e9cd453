package server

import (
	"context"
	"time"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/store"
)

// settle follows a committed finalization (F11): first the terminal message,
// then the slot, then whoever may want it. answer is nil where nobody is told.
func (s *Server) settle(e store.Ended, answer agentproto.Message) {
	s.o.Log.Info("attempt ended", "job", e.JobID, "attempt", e.AttemptID, "device", e.DeviceID,
		"status", e.Attempt, "job_status", e.Job, "code", e.Code)
	if answer != nil {
		s.hub.send(e.DeviceID, answer)
	}
	s.hub.release(e.DeviceID, e.AttemptID)
	s.matcher.wake()
	if e.Attempt != fence.AttemptSucceeded {
		s.loops.Go(func() { s.discard(e.OutputKey) })
	}
}

// discard removes what an attempt that did not succeed has written (F16).
func (s *Server) discard(key string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := s.o.Artifacts.Abort(ctx, key)
	if err == nil {
		err = s.o.Artifacts.Delete(ctx, key)
	}
	if err != nil {
		s.o.Log.Warn("could not discard an output", "key", key, "err", err)
	}
}

// submitted wakes who waits for work; the sweeper has to know of a deadline.
func (s *Server) submitted(deadline time.Time) {
	if !deadline.IsZero() {
		s.sweeper.at(deadline)
	}
	s.matcher.wake()
}

// cancelled tells the device that runs the job, or wakes the verifier (F10).
func (s *Server) cancelled(out store.CancelOutcome) {
	switch {
	case out.AttemptID == "" || out.Status != fence.JobCancelling:
	case out.Verifying:
		s.verifier.drop(out.AttemptID)
	default:
		s.hub.send(out.DeviceID, &agentproto.Cancel{JobID: out.JobID, AttemptID: out.AttemptID})
	}
}

// revoked closes the device's session and lets go of what it ran (F18).
func (s *Server) revoked(deviceID string, ended []store.Ended) {
	if ses := s.hub.revoke(deviceID); ses != nil {
		go ses.close(agentproto.CloseRevoked, "this device was revoked: pair it again")
	}
	for _, e := range ended {
		s.settle(e, nil)
	}
}
