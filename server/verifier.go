package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/media/probe"
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

// finding is what a check found out: what the media is, or why it is not what
// was promised.
type finding struct {
	media         json.RawMessage
	code, message string
}

func wrong(format string, args ...any) finding {
	return finding{code: fence.VerificationFailed, message: fmt.Sprintf(format, args...)}
}

// verify publishes what was uploaded, hashes it itself, and reads it (F7, F16).
// An error means that the store could not be read.
func (s *Server) verify(ctx context.Context, v *store.Verification) (finding, error) {
	info, err := s.o.Artifacts.Complete(ctx, v.OutputKey)
	switch {
	case errors.Is(err, artifact.ErrIncomplete), errors.Is(err, artifact.ErrNotFound):
		return wrong("parts of the result were never uploaded"), nil
	case err != nil:
		return finding{}, err
	case info.Bytes != v.Claimed.Bytes:
		return wrong("the stored result has %d bytes, the Mac said %d", info.Bytes, v.Claimed.Bytes), nil
	case info.SHA256 != v.Claimed.SHA256:
		return wrong("the stored result's SHA-256 is not what the Mac said"), nil
	}
	object, _, err := s.o.Artifacts.Open(ctx, v.OutputKey)
	if err != nil {
		return finding{}, err
	}
	defer object.Close()
	m, err := probe.File(object, info.Bytes)
	var bad *probe.Error
	if errors.As(err, &bad) || errors.Is(err, probe.ErrUnknown) {
		return wrong("the stored result is no media: %s", err), nil
	}
	if err != nil {
		return finding{}, err
	}
	if err := expectation(v).Check(m); err != nil {
		return wrong("%s", err), nil
	}
	facts, err := json.Marshal(m)
	return finding{media: facts}, err
}

func expectation(v *store.Verification) media.Expectation {
	service, _ := media.Lookup(v.Service) // it was found when the job was submitted
	inputs := make([]*probe.Media, len(v.Inputs))
	for i, raw := range v.Inputs {
		if m := new(probe.Media); len(raw) > 0 && json.Unmarshal(raw, m) == nil {
			inputs[i] = m
		}
	}
	var said []json.RawMessage
	_ = json.Unmarshal(v.InputMedia, &said) // our own row, or nothing
	return service.Expect(v.Params, inputs, said)
}
