package server

import (
	"context"
	"errors"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/store"
)

// settle follows a committed finalization (F11): first the terminal message,
// then the slot, then whoever may want it. answer is nil where nobody is told.
func (s *Server) settle(e store.Ended, answer agentproto.Message) {
	s.o.Log.Info("attempt ended", "job", e.JobID, "attempt", e.AttemptID, "device", e.DeviceID,
		"status", e.Attempt, "job_status", e.Job, "code", e.Code)
	s.metrics.ended(e)
	if answer != nil {
		s.hub.send(e.DeviceID, answer)
	}
	s.hub.release(e.DeviceID, e.AttemptID)
	s.matcher.wake()
	if e.Attempt != fence.AttemptSucceeded {
		s.loops.Go(func() { s.discard(context.Background(), e.OutputKey) })
	}
}

// discard removes what an attempt that did not succeed has written (F16). What
// it cannot remove is still noted, and tried again by discardAll.
func (s *Server) discard(ctx context.Context, key string) {
	if err := s.erase(ctx, key); err != nil {
		s.o.Log.Warn("could not discard an output: it is tried again within the hour", "key", key, "err", err)
	}
}

// erase removes objects that are noted as nobody's, and then the notes. With an
// error some may be left: what is noted is tried again.
func (s *Server) erase(ctx context.Context, keys ...string) error {
	var gone []string
	for _, key := range keys {
		if err := s.eraseOne(ctx, key); err != nil {
			return errors.Join(err, s.o.DB.Discarded(ctx, gone...))
		}
		gone = append(gone, key)
	}
	return s.o.DB.Discarded(ctx, gone...)
}

func (s *Server) eraseOne(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	failpoint.At("server.discard.before")
	err := s.o.Artifacts.Abort(ctx, key)
	if err == nil {
		err = s.o.Artifacts.Delete(ctx, key)
	}
	failpoint.At("server.discard.after")
	return err
}

// discardAll removes what a crash, or an object store that was away, has left.
func (s *Server) discardAll(ctx context.Context) {
	const page = 100
	for after := ""; ; {
		keys, err := s.o.DB.Discards(ctx, after, page)
		if err != nil {
			s.o.Log.Warn("could not list the objects to discard", "err", err)
			return
		}
		for _, key := range keys {
			if ctx.Err() != nil {
				return
			}
			s.discard(ctx, key)
			after = key
		}
		if len(keys) < page {
			return
		}
	}
}

// submitted wakes who waits for work; the sweeper has to know of a deadline.
func (s *Server) submitted(deadline time.Time) {
	if !deadline.IsZero() {
		s.sweeper.at(deadline)
	}
	s.matcher.wake()
}

// cancelled tells the device that runs the job, or wakes the verifier (F10); what
// was read for a job that has ended is read no further.
func (s *Server) cancelled(out store.CancelOutcome) {
	switch {
	case out.Status == fence.JobCancelled:
		s.reader.drop(out.JobID)
	case out.AttemptID == "" || out.Status != fence.JobCancelling:
	case out.Verifying:
		s.verifier.drop(out.AttemptID)
	default:
		s.hub.send(out.DeviceID, &agentproto.Cancel{JobID: out.JobID, AttemptID: out.AttemptID})
	}
}

// configured makes the device's session go by its new terms, also one that is
// just arriving, and lets the matcher look again: more jobs may fit this Mac, or
// others no longer wait for it (F3).
func (s *Server) configured(deviceID string, t store.Terms) {
	if t.Revision == 0 {
		return
	}
	s.o.Log.Info("device changed", "device", deviceID, "slots", t.Slots, "draining", t.Draining)
	if ses := s.hub.of(deviceID); ses != nil {
		ses.follow(t)
	}
	s.matcher.wake()
}

// revoked closes the device's session and lets go of what it ran (F18).
func (s *Server) revoked(deviceID string, ended []store.Ended) {
	if ses := s.hub.revoke(deviceID); ses != nil {
		go ses.close(agentproto.CloseRevoked, "this device was revoked: pair it again")
	}
	for _, e := range ended {
		s.settle(e, nil)
	}
	s.matcher.wake() // others were skipped for this Mac as long as it was online (F3)
}
