package server

import (
	"net/http"
	"slices"
	"time"

	"rendermac/agentproto"
	"rendermac/fence"
)

// swarmFaults is every fault that an agent has. Each agent draws them from a
// deck of its own, shuffled by the seed; one that does not fit now waits.
var swarmFaults = map[string]func(a *swarmAgent) bool{
	"abrupt drop":        func(a *swarmAgent) bool { a.link.cut(); a.link = nil; return true },
	"clean drop":         func(a *swarmAgent) bool { a.shut(a.link); a.link = nil; return true },
	"frozen":             (*swarmAgent).freeze,
	"late commit":        (*swarmAgent).commitLate,
	"commit twice":       (*swarmAgent).commitTwice,
	"two sockets":        (*swarmAgent).twoSockets,
	"delayed":            (*swarmAgent).delay,
	"stale resume":       (*swarmAgent).resumeStale,
	"lost resume answer": (*swarmAgent).loseAnswer,
	"forgetful hello":    (*swarmAgent).forget,
	"bye":                (*swarmAgent).bye,
	"revoke":             (*swarmAgent).beRevoked,
	"fail":               (*swarmAgent).breakDown,
	"late part":          (*swarmAgent).putLate,
	"theft":              (*swarmAgent).theft,
	"rest":               (*swarmAgent).rest,
	"drain":              func(a *swarmAgent) bool { a.drain(true); a.drainedUntil = time.Now().Add(time.Second); return true },
}

// err commits the next fault, if it fits.
func (a *swarmAgent) err() {
	if len(a.deck) == 0 {
		for name := range swarmFaults {
			a.deck = append(a.deck, name)
		}
		slices.Sort(a.deck)
		a.rng.Shuffle(len(a.deck), func(i, j int) { a.deck[i], a.deck[j] = a.deck[j], a.deck[i] })
	}
	for i, name := range a.deck[:min(3, len(a.deck))] { // the next, or one of those behind it
		if swarmFaults[name](a) {
			a.count(name)
			a.deck = slices.Delete(a.deck, i, i+1)
			return
		}
	}
}

// at finds a run in a stage that nothing is under way for.
func (a *swarmAgent) at(stages ...int) *swarmRun {
	for _, r := range a.runs {
		if !r.resuming && slices.Contains(stages, r.stage) {
			return r
		}
	}
	return nil
}

// freeze is a Mac asleep: its socket stands, nothing is read, nothing said.
// Awake again it goes on as if nothing had been, which is too late.
func (a *swarmAgent) freeze() bool {
	if a.at(uploaded) == nil && (len(a.runs) == 0 || a.rng.IntN(4) > 0) {
		return false
	}
	a.gate.Lock()
	time.Sleep(swarmTTL + time.Duration(a.rng.IntN(800))*time.Millisecond)
	a.gate.Unlock()
	for _, r := range a.runs {
		if r.stage == uploaded && !r.resuming {
			a.count("commit after a freeze")
			a.commit(a.link, r)
		}
	}
	return true
}

// commitLate lets one lease run out while the socket lives, and then commits.
func (a *swarmAgent) commitLate() bool {
	r := a.at(uploaded)
	if r != nil {
		r.silence()
	}
	return r != nil
}

func (a *swarmAgent) commitTwice() bool {
	r := a.at(uploaded)
	if r != nil {
		a.commit(a.link, r)
		a.sayCommit(a.link, r, r.claim(), true)
	}
	return r != nil
}

// twoSockets has the older socket speak after the newer one has said hello, or
// just before: who comes first is the network's.
func (a *swarmAgent) twoSockets() bool {
	r := a.at(uploaded, taken, running)
	if r == nil {
		return false
	}
	older := a.link
	first := a.rng.IntN(2) == 0
	if r.stage == uploaded && first {
		a.sayCommit(older, r, r.claim(), true)
	}
	a.connect(a.runs)
	if r.stage == uploaded {
		a.sayCommit(older, r, r.claim(), true) // under the newest identity that it knows
	} else {
		a.progress(older, r)
	}
	older.say(&agentproto.Ready{SlotsFree: 9})
	if a.rng.IntN(2) == 0 {
		older.say(&agentproto.Bye{Reason: "late", Keep: []agentproto.IDs{}})
	}
	return true
}

// delay holds a commit back until after the reconnect.
func (a *swarmAgent) delay() bool {
	r := a.at(uploaded)
	if r == nil {
		return false
	}
	r.delayed = r.claim()
	a.link.cut()
	a.connect(a.runs)
	return true
}

// resumeStale lists one run with a secret that is no longer good, or never was.
func (a *swarmAgent) resumeStale() bool {
	r := a.at(taken, running, uploaded)
	if r == nil {
		return false
	}
	was := identity{r.LeaseEpoch, r.token}
	r.token = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if len(r.past) > 1 {
		r.LeaseEpoch, r.token = r.past[0].epoch, r.past[0].token
		a.count("resume with a secret long replaced")
	}
	a.shut(a.link)
	a.connect(a.runs)
	r.LeaseEpoch, r.token = was.epoch, was.token
	return true
}

// loseAnswer reconnects twice with the same secret: the first answer got lost.
func (a *swarmAgent) loseAnswer() bool {
	if a.at(taken, running, uploaded) == nil {
		return false
	}
	before := a.link
	before.cut()
	if a.connect(a.runs); a.link != before {
		a.link.deaf = true
		time.Sleep(time.Duration(a.rng.IntN(60)) * time.Millisecond) // before or after it was stored
		a.link.cut()
	}
	a.connect(a.runs)
	return true
}

// forget comes back with nothing, and commits what it no longer holds.
func (a *swarmAgent) forget() bool {
	runs := a.runs
	a.runs = nil
	a.connect(nil)
	for _, r := range runs {
		if r.stage == uploaded && !r.resuming {
			a.sayCommit(a.link, r, r.claim(), false)
		}
	}
	return true
}

func (a *swarmAgent) bye() bool {
	m := &agentproto.Bye{Reason: "asleep", Keep: []agentproto.IDs{}}
	for _, r := range slices.Clone(a.runs) {
		if a.rng.IntN(2) == 0 {
			m.Keep = append(m.Keep, r.IDs)
		}
	}
	a.link.say(m)
	a.shut(a.link)
	a.link = nil
	return true
}

func (a *swarmAgent) beRevoked() bool {
	if a.rng.IntN(3) > 0 {
		return true // now and then only
	}
	if status := a.revokeSelf(); status != http.StatusNoContent {
		a.wrong("revoke: %d", status)
	}
	for _, r := range a.runs {
		if r.stage == uploaded && !r.resuming {
			a.sayCommit(a.link, r, r.claim(), false)
		}
	}
	a.count("device revoked")
	a.runs, a.link = nil, nil
	a.pair()
	return true
}

// revokeSelf asks again where the store was too busy to say whether it is done:
// repeating it is harmless.
func (a *swarmAgent) revokeSelf() (status int) {
	for until := time.Now().Add(hearing); ; {
		status, _, _ = a.call("DELETE", "/v1/devices/"+a.id, a.admin, nil)
		if status != http.StatusServiceUnavailable || time.Now().After(until) {
			return status
		}
	}
}

func (a *swarmAgent) breakDown() bool {
	r := a.at(taken, running, uploaded)
	if r == nil {
		return false
	}
	codes := []string{fence.DownloadFailed, fence.UploadFailed, fence.InternalError, fence.NoCapacity, fence.RunnerFailed, "made_up"}
	a.giveUp(r, codes[a.rng.IntN(len(codes))])
	return true
}

// putLate writes to a URL whose run has committed, other bytes and the same.
func (a *swarmAgent) putLate() bool {
	r := a.at(committed)
	if r == nil || len(r.urls) == 0 {
		return false
	}
	if status, _, _ := a.call("PUT", r.urls[0].URL, "", []byte("others")); status == http.StatusOK {
		a.wrong("a stale URL took other bytes")
	}
	return true
}

// theft speaks of another device's run, with its very secret.
func (a *swarmAgent) theft() bool {
	r := a.steal(a.id)
	if r == nil || a.link == nil {
		return false
	}
	a.sayCommit(a.link, r, r.claim(), false)
	return true
}

// drain has an admin say that the device takes no more work, or takes it again;
// where the store was too busy to answer, once more.
func (a *swarmAgent) drain(drained bool) {
	a.drainedUntil = time.Time{}
	if !eventually(func() bool {
		status, body, _ := a.call("PATCH", "/v1/devices/"+a.id, a.admin, map[string]bool{"draining": drained})
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			a.wrong("drain: %d %s", status, body)
		}
		return status != http.StatusServiceUnavailable
	}) {
		a.wrong("a drain was never answered")
	}
}

// rest takes no work for a while.
func (a *swarmAgent) rest() bool {
	a.restUntil = time.Now().Add(time.Second)
	a.link.say(&agentproto.Ready{SlotsFree: 0})
	return true
}
