package server

import (
	"time"

	"rendermac/agentproto"
	"rendermac/fence"
)

// hear takes in one message, notes what it proves, and acts on it.
func (a *swarmAgent) hear(h swarmHeard) {
	switch m := h.msg.(type) {
	case nil:
		a.ended(h)
	case *agentproto.HelloOK:
		a.wasHeard(h.link)
		if h.link == a.link {
			a.ready()
		}
	case *agentproto.LeaseOffer:
		a.offered(h.link, m)
	case *agentproto.ProgressOK:
		a.proves("alive", h.link, m.IDs)
	case *agentproto.UploadGrant:
		a.proves("held", h.link, m.IDs)
		if r := a.run(m.AttemptID); r != nil && r.stage == asking {
			a.granted(r, m)
		}
	case *agentproto.LeaseConflict:
		a.popAsk(h.link, m.IDs)
		if r := a.run(m.AttemptID); r != nil && r.IDs == m.IDs && h.link == a.link && !r.resuming {
			a.drop(m.AttemptID)
		}
	case *agentproto.LeaseResumed:
		a.resumed(h.link, m)
	case *agentproto.LeaseRevoked:
		if r := a.run(m.AttemptID); r != nil {
			a.count("resume refused")
			a.drop(m.AttemptID)
		}
	case *agentproto.CommitAccepted:
		a.answer(h.link, m.AttemptID, "accepted")
	case *agentproto.CommitRejected:
		a.rejected(h.link, m)
	case *agentproto.CommitOK:
		a.final(m.AttemptID, m.JobID, "")
	case *agentproto.FailOK:
		a.gaveUp(m)
	case *agentproto.Error:
		a.failRefused(h.link, m)
	case *agentproto.Drain:
		a.drained(h.link, true)
	case *agentproto.ResumeWork:
		a.drained(h.link, false)
	case *agentproto.Cancel:
		a.cancelled(h.link, m)
	default:
		a.wrong("agent %d heard %T", a.n, m)
	}
}

func (a *swarmAgent) drained(l *swarmLink, drained bool) {
	if l.drained == drained {
		a.wrong("agent %d was told twice that it drains: %v", a.n, drained)
	}
	l.drained = drained
	a.count(map[bool]string{true: "heard drain", false: "heard resume_work"}[drained])
}

func (a *swarmAgent) offered(l *swarmLink, m *agentproto.LeaseOffer) {
	if l.drained {
		a.wrong("an offer came to agent %d while it drains", a.n)
	}
	r := &swarmRun{
		IDs: m.IDs, token: m.CommitToken, device: a.id, n: m.AttemptNumber, input: m.Inputs[0], partSize: m.Output.PartBytes, since: l.helloAt,
		due: time.Now().Add(time.Duration(a.rng.IntN(300)) * time.Millisecond), beat: time.Now().Add(swarmTTL / 4),
	}
	a.saw(m.JobID, swarmOp{kind: "held", n: m.AttemptNumber, call: l.helloAt, ret: a.now()})
	a.told(m.CommitToken)
	a.count("offer")
	if l != a.link { // from a socket that was replaced: this hello did not list it, and so it is lost
		return
	}
	if !a.calm.Load() && a.rng.IntN(8) == 0 {
		r.lie = []string{"wrong digest", "wrong length", "truncated media", "swapped part"}[a.rng.IntN(4)]
	}
	a.lend(r)
	a.runs = append(a.runs, r)
}

// popAsk is the first message under these ids that has had no answer yet.
func (a *swarmAgent) popAsk(l *swarmLink, ids agentproto.IDs) swarmAsk {
	list := l.asked[ids]
	if len(list) == 0 {
		a.wrong("an answer to nothing: %+v", ids)
		return swarmAsk{}
	}
	l.asked[ids] = list[1:]
	a.answered(time.Duration(a.now() - list[0].at))
	return list[0]
}

// proves notes a positive answer: only the newest identity may get one.
func (a *swarmAgent) proves(kind string, l *swarmLink, ids agentproto.IDs) {
	ask := a.popAsk(l, ids)
	if ask.stale {
		a.wrong("%+v was answered as if its epoch were the newest", ids)
	}
	a.saw(ids.JobID, swarmOp{kind: kind, n: ask.n, call: ask.at, ret: a.now()})
}

func (a *swarmAgent) resumed(l *swarmLink, m *agentproto.LeaseResumed) {
	a.told(m.CommitToken)
	r := a.run(m.AttemptID)
	if r == nil || l != a.link {
		return
	}
	a.count("resume")
	a.saw(m.JobID, swarmOp{kind: "held", n: r.n, call: l.helloAt, ret: a.now()})
	if l.deaf {
		return
	}
	old := r.IDs
	r.past = append(r.past, identity{r.LeaseEpoch, r.token})
	r.IDs, r.token, r.resuming = m.IDs, m.CommitToken, false
	switch r.stage { // the answer was lost on the way
	case asking:
		r.stage = running
	case committed:
		r.stage = uploaded
	}
	if r.delayed != nil {
		a.count("message under the old epoch")
		a.ask(l, r, old, &agentproto.Progress{IDs: old, Phase: "uploading"})
		a.sayCommit(l, r, r.delayed, false)
		r.delayed = nil
	}
	if a.rng.IntN(2) == 0 { // the first word under the new epoch: the old secret is gone for good
		a.progress(l, r)
	}
}

// answer matches an answer with its commit: they come in order.
func (a *swarmAgent) answer(l *swarmLink, attemptID, answer string) {
	list := l.commits[attemptID]
	if len(list) == 0 {
		a.wrong("a commit's answer, %s, to nothing: %s", answer, attemptID)
		return
	}
	l.commits[attemptID] = list[1:]
	a.mu.Lock()
	list[0].answer, list[0].ret = answer, a.now()
	a.mu.Unlock()
	if answer == "accepted" && !list[0].newest {
		a.wrong("a stale commit was accepted: %+v", *list[0])
	}
}

func (a *swarmAgent) rejected(l *swarmLink, m *agentproto.CommitRejected) {
	if m.Code == fence.CodeCommitConflict {
		stale := len(l.commits[m.AttemptID]) > 0 && !l.commits[m.AttemptID][0].newest
		a.answer(l, m.AttemptID, "refused")
		if r := a.run(m.AttemptID); r != nil && !stale && !r.resuming && len(l.commits[m.AttemptID]) == 0 && l == a.link {
			a.drop(m.AttemptID)
		}
		return
	}
	a.final(m.AttemptID, m.JobID, m.Code)
}

// final is the verifier's verdict, or the end of a cancelled job.
func (a *swarmAgent) final(attemptID, jobID, code string) {
	a.mu.Lock()
	if before, twice := a.finals[attemptID]; twice && before.code != code {
		a.wrong("attempt %s ended as %q and as %q", attemptID, before.code, code)
	}
	a.finals[attemptID] = swarmFinal{job: jobID, code: code, ret: a.now()}
	a.mu.Unlock()
	a.drop(attemptID)
}

// gaveUp is an answer that comes on the newest session, wherever fail was said.
func (a *swarmAgent) gaveUp(m *agentproto.FailOK) {
	answer := map[bool]string{true: "requeued", false: "done"}[m.Requeued]
	a.mu.Lock()
	if said := a.fails[m.AttemptID]; len(said) > 0 {
		a.ops[m.JobID] = append(a.ops[m.JobID], swarmOp{kind: "fail", n: said[0].n, answer: answer, call: said[0].call, ret: a.now()})
	} else {
		a.wrong("fail_ok to nothing: %+v", m)
	}
	a.mu.Unlock()
	a.drop(m.AttemptID)
}

func (a *swarmAgent) failRefused(l *swarmLink, m *agentproto.Error) {
	said := l.fails[m.AttemptID]
	if m.Code != fence.CodeCommitConflict || len(said) == 0 {
		a.wrong("agent %d was told %+v", a.n, m)
		return
	}
	a.mu.Lock()
	said[0].refused = true
	a.mu.Unlock()
	l.fails[m.AttemptID] = said[1:]
	if l == a.link {
		a.drop(m.AttemptID)
	}
}

// cancelled is told to stop: some do, some commit all the same, some ignore it.
func (a *swarmAgent) cancelled(l *swarmLink, m *agentproto.Cancel) {
	r := a.run(m.AttemptID)
	if r == nil || l != a.link {
		return
	}
	a.saw(m.JobID, swarmOp{kind: "cancelling", n: r.n, call: r.since, ret: a.now()})
	if r.resuming || r.stage == committed {
		return
	}
	what := a.rng.IntN(4)
	switch {
	case a.calm.Load() || what == 0:
		a.giveUp(r, fence.BuyerCancelled)
	case r.stage == uploaded:
		a.count("commit of a cancelled job")
		a.commit(l, r)
	case what == 1 && r.stage != asking:
		a.count("cancel ignored")
		r.silence()
	case what == 2:
		a.giveUp(r, fence.RunnerFailed) // the job is cancelled all the same
	}
}
