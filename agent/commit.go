package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
)

var (
	// errAgain is a commit that must be made anew, from the upload on: a later
	// session has taken the run up again uncommitted.
	errAgain    = errors.New("the commit was lost on its way")
	errRejected = errors.New("the server does not take the result")
)

// commit presents the result and waits for the server's final answer, which
// comes when verification has ended. It returns nil when the job succeeded.
func (r *run) commit(ctx context.Context) error {
	r.stopClock()
	was, _ := r.identity()
	for {
		if err := r.awaitWord(ctx); err != nil {
			return err
		}
		if is, _ := r.identity(); is != was {
			return errAgain
		}
		if r.isAccepted() {
			return r.awaitFinal(ctx)
		}
		failpoint.At("agent.commit")
		answer, err := r.ask(ctx, r.commitment)
		switch {
		case errors.Is(err, errUnanswered):
			continue
		case err != nil:
			return err
		case answer.Type() == "commit_accepted":
			failpoint.At("agent.commit.accepted")
			r.log.Info("commit accepted", "bytes", r.result.Bytes)
			continue
		}
		return verdict(answer)
	}
}

func (r *run) commitment(ids agentproto.IDs, token string) agentproto.Message {
	return &agentproto.Commit{
		IDs: ids, CommitToken: token,
		Bytes: r.result.Bytes, SHA256: r.result.SHA256, Warnings: r.result.Warnings,
	}
}

// awaitWord waits until a session knows the run, or knows how it ended.
func (r *run) awaitWord(ctx context.Context) error {
	return r.await(ctx, func() bool { return r.link != nil || r.accepted })
}

// awaitFinal waits without a lease: the attempt belongs to the verifier (F6).
func (r *run) awaitFinal(ctx context.Context) error {
	var final agentproto.Message
	err := r.await(ctx, func() bool { final = r.final; return final != nil || !r.accepted })
	failpoint.At("agent.commit.final")
	switch {
	case err != nil:
		return err
	case final == nil:
		return errAgain
	default:
		return verdict(final)
	}
}

// verdict is what a final answer means. Whatever it is, the result is not
// needed any more.
func verdict(m agentproto.Message) error {
	switch m := m.(type) {
	case *agentproto.CommitOK:
		return nil
	case *agentproto.CommitRejected:
		return fmt.Errorf("%w: %s: %s", errRejected, m.Code, m.Message)
	default:
		return fmt.Errorf("%w: %w", errRejected, refused("the commit", m))
	}
}

// resumed gives the run its new identity. On disk it changes first: once a
// message under the new epoch has gone out, the old one is worth nothing (F14).
func (r *run) resumed(m *agentproto.LeaseResumed, l *link, helloSent time.Duration) {
	r.set(func() {
		r.ids.LeaseEpoch, r.token = m.LeaseEpoch, m.CommitToken
		r.ttl = m.LeaseTTL.Duration()
		r.ends, r.accepted = helloSent+r.ttl, false
	})
	r.keep()
	r.set(func() { r.link = l })
	r.log.Info("lease resumed", "lease_epoch", m.LeaseEpoch)
}

// revoked says that the run is not ours to go on with. A commit that got
// through has its final answer here, or gets it later on this session, against
// which it counts no more (F11): its slot is free.
func (r *run) revoked(m *agentproto.LeaseRevoked, l *link) {
	var status fence.AttemptStatus
	if m.Status != nil {
		status = fence.AttemptStatus(*m.Status)
	}
	switch status {
	case fence.AttemptCommitting:
		r.set(func() { r.accepted, r.ends, r.link = true, 0, l })
		r.freeSlot()
	case fence.AttemptSucceeded:
		r.set(func() { r.accepted, r.ends, r.final = true, 0, &agentproto.CommitOK{} })
	default:
		r.lose(errRevoked)
	}
}
