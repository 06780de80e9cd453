package server

import (
	"context"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/fence"
	"rendermac/store"
)

// verifier checks committed results outside any transaction (F7) and then
// settles them (F8). Nothing else ends an attempt that passed F6.
type verifier struct {
	srv     *Server
	mu      sync.Mutex
	waiting []string
	running map[string]context.CancelFunc // by attempt
	some    chan struct{}
}

func newVerifier(s *Server) *verifier {
	return &verifier{srv: s, running: map[string]context.CancelFunc{}, some: make(chan struct{}, 1)}
}

// takeUp queues what an earlier run of the server left verifying (F15).
func (v *verifier) takeUp(ctx context.Context) error {
	ids, err := v.srv.o.DB.Verifying(ctx)
	for _, id := range ids {
		v.add(id)
	}
	return err
}

func (v *verifier) add(attemptID string) {
	v.mu.Lock()
	v.waiting = append(v.waiting, attemptID)
	v.mu.Unlock()
	v.signal()
}

func (v *verifier) signal() {
	select {
	case v.some <- struct{}{}:
	default:
	}
}

// drop ends a check whose job was cancelled; F8 then finalizes it (F10).
func (v *verifier) drop(attemptID string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if cancel, ok := v.running[attemptID]; ok {
		cancel()
	}
}

func (v *verifier) loop(ctx context.Context) {
	var workers sync.WaitGroup
	for range max(1, v.srv.o.VerifyWorkers) {
		workers.Go(func() { v.work(ctx) })
	}
	workers.Wait()
}

func (v *verifier) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.some:
		}
		for id, ok := v.take(); ok && ctx.Err() == nil; id, ok = v.take() {
			v.settle(ctx, id)
		}
	}
}

func (v *verifier) take() (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.waiting) == 0 {
		return "", false
	}
	id := v.waiting[0]
	v.waiting = v.waiting[1:]
	if len(v.waiting) > 0 {
		v.signal() // for the next worker
	}
	return id, true
}

// settle verifies one attempt until there is a verdict, and stores it. What
// cannot be read is no failed verification: it is tried again with backoff,
// until the deadline of F8.
func (v *verifier) settle(ctx context.Context, id string) {
	checking, cancel := context.WithCancel(ctx)
	defer cancel()
	v.mu.Lock()
	v.running[id] = cancel
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		delete(v.running, id)
		v.mu.Unlock()
	}()
	for try := 1; ctx.Err() == nil; try++ {
		done, err := v.runOnce(ctx, checking, id)
		if done {
			return
		}
		v.srv.o.Log.Warn("verification put off", "attempt", id, "try", try, "err", err)
		select {
		case <-checking.Done():
		case <-time.After(fence.Backoff(time.Second, try)):
		}
	}
}

// runOnce loads, checks and settles an attempt. done is false where it must be
// tried again.
func (v *verifier) runOnce(ctx, checking context.Context, id string) (done bool, err error) {
	claim, err := v.srv.o.DB.Verification(ctx, id)
	if err != nil || claim == nil {
		return err == nil, err
	}
	result, err := v.srv.verify(checking, claim)
	late := v.srv.o.Now().Sub(claim.StartedAt) > v.srv.o.VerifyDeadline
	switch {
	case claim.Cancelling || checking.Err() != nil && ctx.Err() == nil:
		result = finding{} // F8 finds the job cancelling, whatever is said here
	case err != nil && late:
		result = finding{code: fence.InternalError, message: "the result could not be read for so long that it was given up: " + err.Error()}
	case err != nil:
		return false, err
	}
	out, err := v.srv.o.DB.FinishCommit(ctx, id, fence.Verdict{Verified: result.code == "" && result.media != nil, Code: result.code}, result.message, result.media)
	if err != nil {
		return false, err
	}
	if out.Ended != nil {
		v.srv.settle(*out.Ended, finalAnswer(*out.Ended))
	}
	return true, nil
}

func finalAnswer(e store.Ended) agentproto.Message {
	if e.Job == fence.JobSucceeded {
		return &agentproto.CommitOK{JobID: e.JobID, AttemptID: e.AttemptID}
	}
	return &agentproto.CommitRejected{JobID: e.JobID, AttemptID: e.AttemptID, Code: e.Code, Message: e.Message}
}
