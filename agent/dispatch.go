package agent

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/agentproto"
)

// read takes the session's messages, each at once: whatever takes time happens
// in the runs. helloSent is from when a resumed lease counts.
func (a *agent) read(ctx context.Context, l *link, hear func(), helloSent time.Duration) error {
	for {
		_, frame, err := l.conn.Read(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		hear()
		m, err := agentproto.Decode(frame)
		if err != nil {
			a.log.Warn("message not understood", "error", err) // a newer server may say more than we know
			continue
		}
		a.dispatch(m, frame, l, helloSent)
	}
}

func (a *agent) dispatch(m agentproto.Message, frame []byte, l *link, helloSent time.Duration) {
	switch m := m.(type) {
	case *agentproto.LeaseOffer:
		a.take(m, l)
	case *agentproto.Drain:
		a.log.Info("draining: no more work until the server says so")
	case *agentproto.ResumeWork:
		a.log.Info("taking work again")
	default:
		var about struct {
			AttemptID string `json:"attempt_id"`
		}
		json.Unmarshal(frame, &about) // Decode has read it already
		if e, ok := m.(*agentproto.Error); ok {
			a.log.Warn("the server reports an error", "code", e.Code, "message", e.Message, "attempt_id", about.AttemptID)
		}
		if r := a.find(about.AttemptID); r != nil {
			r.hear(m, l, helloSent)
		}
	}
}

// hear is what one message means for the run it names.
func (r *run) hear(m agentproto.Message, l *link, helloSent time.Duration) {
	switch m := m.(type) {
	case *agentproto.ProgressOK:
		if r.renewed(m) {
			r.report.mediaKnown()
		}
	case *agentproto.Cancel:
		r.stop(errCancelled)
	case *agentproto.LeaseConflict:
		if ids, _ := r.identity(); m.IDs == ids {
			r.lose(errConflict)
		}
	case *agentproto.LeaseResumed:
		r.resumed(m, l, helloSent)
	case *agentproto.LeaseRevoked:
		r.revoked(m, l)
	default:
		r.answered(m)
	}
}
