package agent

import (
	"errors"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
)

// conclude leaves things as they must be after the story: a kept result for the
// next agent, or nothing at all, and the server told.
func (r *run) conclude(err error) {
	if errors.Is(err, errShutdown) && r.isKept() {
		r.log.Info("result kept for the next start")
		return
	}
	r.clear()
	r.letInputsGo()
	failpoint.At("agent.clear.after")
	var f *failure
	switch {
	case err == nil:
		r.log.Info("done")
	case errors.As(err, &f):
		r.fail(f.code, f.message)
	case errors.Is(err, errCancelled):
		r.fail(fence.BuyerCancelled, "stopped as asked: "+err.Error())
	case errors.Is(err, errRejected), r.life.Err() != nil:
		r.log.Warn("run stopped", "why", err)
	default:
		r.fail(fence.InternalError, err.Error())
	}
}

// fail tells the server, until it knows or the run is no longer ours.
func (r *run) fail(code, message string) {
	r.log.Warn("run failed", "code", code, "message", message)
	r.flush()
	failpoint.At("agent.fail.before")
	answer, err := r.insist(r.life, func(ids agentproto.IDs, token string) agentproto.Message {
		return &agentproto.Fail{IDs: ids, CommitToken: token, FailureCode: code, Message: clip(message, 1000)}
	})
	if err != nil {
		r.log.Warn("failure not reported", "why", err)
		return
	}
	failpoint.At("agent.fail.after")
	r.log.Info("failure reported", "answer", answer.Type())
}
