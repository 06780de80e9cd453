package server

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"rendermac/agentproto"
	"rendermac/artifact"
	"rendermac/fence"
	"rendermac/store"
)

func attemptOf(m agentproto.Message) string {
	switch m := m.(type) {
	case *agentproto.Inputs:
		return m.AttemptID
	case *agentproto.Upload:
		return m.AttemptID
	case *agentproto.Commit:
		return m.AttemptID
	case *agentproto.Fail:
		return m.AttemptID
	}
	return ""
}

func (s *session) handle(m agentproto.Message) {
	s.answered(attemptOf(m))
	switch m := m.(type) {
	case *agentproto.Ready:
		s.ready(m.SlotsFree)
		s.srv.matcher.wake()
	case *agentproto.Inputs:
		s.freshInputs(m)
	case *agentproto.Upload:
		s.upload(m)
	case *agentproto.Commit:
		s.commit(m)
	case *agentproto.Fail:
		s.fail(m)
	case *agentproto.Bye:
		s.bye(m)
	}
}

func (s *session) claim(ids agentproto.IDs, token string) fence.Claim {
	return fence.Claim{
		DeviceID: s.DeviceID, SessionID: s.SessionID,
		JobID: ids.JobID, AttemptID: ids.AttemptID, Epoch: ids.LeaseEpoch, Token: token,
	}
}

// refused answers a verb's error: a conflict in the protocol's words, and where
// the store could not take it, the end of the session (1011): resume settles
// what is true.
func (s *session) refused(ids agentproto.IDs, err error) {
	var e *fence.Error
	errors.As(err, &e)
	switch code := fence.CodeOf(err); {
	case code == fence.CodeLeaseConflict:
		s.log.Info("refused", "job", ids.JobID, "attempt", ids.AttemptID, "epoch", ids.LeaseEpoch, "rule", e.Rule)
		s.send(&agentproto.LeaseConflict{IDs: ids, Message: e.Message})
	case code == fence.CodeInvalid:
		s.send(&agentproto.Error{Code: "bad_message", Message: e.Message, JobID: ids.JobID, AttemptID: ids.AttemptID})
	case s.srv.outage.met(err):
		s.busy(ids, artifact.ErrUnavailable, jittered(outageRetry))
	case errors.Is(err, artifact.ErrFull):
		s.busy(ids, err, 30*time.Second)
	default:
		if s.ctx.Err() == nil {
			s.log.Error("could not store what the agent said", "job", ids.JobID, "attempt", ids.AttemptID, "err", err)
		}
		go s.close(agentproto.CloseStoreFailure, "what was said could not be stored: reconnect")
	}
}

// busy tells the agent to ask again; progress keeps its lease meanwhile.
func (s *session) busy(ids agentproto.IDs, why error, wait time.Duration) {
	retry := agentproto.SecondsOf(wait)
	s.send(&agentproto.Error{Code: "busy", Message: why.Error(), JobID: ids.JobID, AttemptID: ids.AttemptID, RetryAfterS: &retry})
}

func (s *session) progress(m *agentproto.Progress) {
	s.answered(m.AttemptID)
	if !fence.IsPhase(m.Phase) || m.Fraction != nil && !(*m.Fraction >= 0 && *m.Fraction <= 1) {
		s.send(&agentproto.Error{Code: "bad_message", Message: "progress needs a phase and a fraction from 0 to 1 or null", JobID: m.JobID, AttemptID: m.AttemptID})
		return
	}
	report := store.Report{Phase: fence.AttemptStatus(m.Phase), Fraction: m.Fraction, FPS: m.FPS, Speed: m.Speed, ETA: m.ETASeconds}
	if len(m.InputMedia) > 0 {
		report.InputMedia, _ = json.Marshal(m.InputMedia) // raw JSON that was decoded: it cannot fail
	}
	out, err := s.srv.o.DB.Progress(s.acting, s.claim(m.IDs, ""), report)
	switch {
	case err != nil:
		s.refused(m.IDs, err)
	case out.Cancel:
		s.send(&agentproto.Cancel{JobID: m.JobID, AttemptID: m.AttemptID})
	default:
		s.send(&agentproto.ProgressOK{IDs: m.IDs, LeaseExpiresAt: agentproto.Time{Time: out.ExpiresAt}, LeaseTTL: agentproto.SecondsOf(s.srv.o.LeaseTTL)})
		if out.Shown {
			s.reported(m, out.AccountID)
		}
	}
}

// appendLog is best effort: a stray log is dropped (F4).
func (s *session) appendLog(m *agentproto.Log) {
	s.answered(m.AttemptID)
	text := strings.ReplaceAll(strings.Join(m.Lines, "\n")+"\n", "\x00", "")
	err := s.srv.o.DB.AppendLog(s.acting, s.claim(m.IDs, ""), text)
	if err != nil && fence.CodeOf(err) != fence.CodeLeaseConflict {
		s.log.Warn("log lines lost", "job", m.JobID, "attempt", m.AttemptID, "err", err)
	}
}

// freshInputs looks at the store first: an agent that asks has been refused by
// it, and only the server can say that the store is away.
func (s *session) freshInputs(m *agentproto.Inputs) {
	if err := s.srv.o.Artifacts.Check(s.acting); s.srv.outage.met(err) {
		s.busy(m.IDs, artifact.ErrUnavailable, jittered(outageRetry))
		return
	}
	out, list, err := s.srv.o.DB.Inputs(s.acting, s.claim(m.IDs, ""))
	if err == nil && !out.Cancel {
		var inputs []agentproto.Input
		if inputs, err = s.inputs(list); err == nil {
			s.send(&agentproto.InputsOK{IDs: m.IDs, Inputs: inputs})
			return
		}
	}
	if err != nil {
		s.refused(m.IDs, err)
		return
	}
	s.send(&agentproto.Cancel{JobID: m.JobID, AttemptID: m.AttemptID})
}

// maxClaim bounds what is stored of a claimed digest; one that is no digest is
// a claim that verification will not confirm.
const maxClaim = 128

func (s *session) commit(m *agentproto.Commit) {
	if len(m.SHA256) > maxClaim {
		s.send(&agentproto.Error{Code: "bad_message", Message: "sha256 is no digest", JobID: m.JobID, AttemptID: m.AttemptID})
		return
	}
	out, err := s.srv.o.DB.Commit(s.acting, s.claim(m.IDs, m.CommitToken), fence.Result{Bytes: m.Bytes, SHA256: m.SHA256}, m.Warnings)
	switch {
	case fence.CodeOf(err) == fence.CodeCommitConflict:
		s.log.Info("refused", "job", m.JobID, "attempt", m.AttemptID, "epoch", m.LeaseEpoch, "rule", "F6")
		s.send(&agentproto.CommitRejected{JobID: m.JobID, AttemptID: m.AttemptID, Code: fence.CodeCommitConflict, Message: err.Error()})
	case err != nil:
		s.refused(m.IDs, err)
	case out.Ended != nil:
		s.srv.settle(*out.Ended, &agentproto.CommitRejected{JobID: m.JobID, AttemptID: m.AttemptID, Code: out.Ended.Code, Message: out.Ended.Message})
	default:
		s.send(&agentproto.CommitAccepted{IDs: m.IDs})
		if out.Step == fence.CommitAccept {
			s.srv.verifier.add(m.AttemptID)
		}
	}
}

func (s *session) fail(m *agentproto.Fail) {
	ended, err := s.srv.o.DB.Fail(s.acting, s.claim(m.IDs, m.CommitToken), m.FailureCode, m.Message)
	switch {
	case fence.CodeOf(err) == fence.CodeCommitConflict:
		s.send(&agentproto.Error{Code: fence.CodeCommitConflict, Message: err.Error(), JobID: m.JobID, AttemptID: m.AttemptID})
	case err != nil:
		s.refused(m.IDs, err)
	default:
		s.srv.settle(ended, &agentproto.FailOK{JobID: m.JobID, AttemptID: m.AttemptID, Requeued: ended.Job == fence.JobQueued})
	}
}

func (s *session) bye(m *agentproto.Bye) {
	s.ready(0)
	var keep []fence.Claim
	for _, ids := range m.Keep {
		keep = append(keep, s.claim(ids, ""))
	}
	ended, err := s.srv.o.DB.Bye(s.acting, s.Session, keep)
	if err != nil {
		s.refused(agentproto.IDs{}, err)
		return
	}
	s.log.Info("bye", "reason", m.Reason, "ended", len(ended))
	for _, e := range ended {
		s.srv.settle(e, nil)
	}
	s.srv.matcher.wake() // others were skipped for this Mac as long as it was online (F3)
}
