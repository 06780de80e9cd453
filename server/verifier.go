package server

import (
	"context"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
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
	tries   map[string]int                // of what could not be read, by attempt
	some    chan struct{}
}

func newVerifier(s *Server) *verifier {
	return &verifier{srv: s, running: map[string]context.CancelFunc{}, tries: map[string]int{}, some: make(chan struct{}, 1)}
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
	poke(v.some)
}

// drop ends a check whose job was cancelled; F8 then finalizes it (F10). What
// still waits for a worker, or for its next try, is finalized beside them.
func (v *verifier) drop(attemptID string) {
	v.mu.Lock()
	cancel, running := v.running[attemptID]
	v.mu.Unlock()
	if running {
		cancel()
		return
	}
	v.srv.loops.Go(func() {
		if _, err := v.runOnce(context.Background(), context.Background(), attemptID); err != nil {
			v.add(attemptID)
		}
	})
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
		for ctx.Err() == nil && v.next(ctx) {
		}
	}
}

// next settles the first that waits; false is that none does. A cancel that
// comes as it is taken finds it running already.
func (v *verifier) next(ctx context.Context) bool {
	v.mu.Lock()
	if len(v.waiting) == 0 {
		v.mu.Unlock()
		return false
	}
	id := v.waiting[0]
	v.waiting = v.waiting[1:]
	if len(v.waiting) > 0 {
		poke(v.some) // for the next worker
	}
	checking, cancel := context.WithCancel(ctx)
	v.running[id] = cancel
	v.mu.Unlock()
	defer cancel()
	v.settle(ctx, checking, id)
	return true
}

// settle tries once to find a verdict and to store it. What cannot be read is
// no failed verification: it is tried again with backoff, until the deadline of
// F8, and meanwhile leaves its worker to the others.
func (v *verifier) settle(ctx, checking context.Context, id string) {
	done, err := v.runOnce(ctx, checking, id)
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.running, id)
	if done {
		delete(v.tries, id)
		return
	}
	v.tries[id]++
	wait := fence.Backoff(time.Second, v.tries[id])
	if checking.Err() != nil {
		wait = 0 // cancelled: nothing is left to read
	}
	if ctx.Err() == nil {
		v.srv.o.Log.Warn("verification put off", "attempt", id, "try", v.tries[id], "err", err)
		time.AfterFunc(wait, func() { v.add(id) })
	}
}

// runOnce loads, checks and settles an attempt. done is false where it must be
// tried again.
func (v *verifier) runOnce(ctx, checking context.Context, id string) (done bool, err error) {
	claim, err := v.srv.o.DB.Verification(ctx, id)
	if err != nil || claim == nil {
		return err == nil, err
	}
	var result finding
	if !claim.Cancelling {
		result, err = v.srv.verify(checking, claim)
		failpoint.At("server.verify.after")
	}
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
