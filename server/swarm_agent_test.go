package server

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rendermac/agentproto"
	"rendermac/api"

	"github.com/coder/websocket"
)

// swarmAgent is one Mac of the swarm: it runs several jobs at once, by the
// protocol, except where its next fault says otherwise.
type swarmAgent struct {
	*swarm
	n            int
	rng          *rand.Rand
	id, token    string
	slots        int
	link         *swarmLink   // nil: none
	unheard      []*swarmLink // whose hello has no answer: it may be stored after a later one, and replace that one's session
	runs         []*swarmRun
	heard        chan swarmHeard
	gone         chan struct{}
	readers      sync.WaitGroup
	gate         sync.RWMutex // locked while the agent is frozen
	deck         []string     // the faults that are next
	nextFault    time.Time
	restUntil    time.Time
	drainedUntil time.Time
	full         atomic.Bool
}

// Where a run of the swarm stands.
const (
	taken = iota
	running
	asking // for its upload grant
	uploaded
	committed
)

// swarmRun is a lease that the agent believes it holds.
type swarmRun struct {
	agentproto.IDs
	token    string
	device   string
	n        int
	past     []identity // what a resume has replaced
	input    agentproto.Input
	partSize int64
	stage    int
	lie      string
	output   []byte
	urls     []agentproto.PartURL
	since    int64 // when it can have been leased at the earliest
	due      time.Time
	beat     time.Time
	mute     bool               // no heartbeats any more, and late when due
	resuming bool               // nothing may be said of it until an answer comes
	delayed  *agentproto.Commit // to be said after the next resume, under the old identity
}

func newSwarmAgent(s *swarm, n int) *swarmAgent {
	rng := s.rng(n)
	return &swarmAgent{swarm: s, n: n, rng: rng, slots: 1 + rng.IntN(3), heard: make(chan swarmHeard, 256), gone: make(chan struct{})}
}

// pair makes the agent a new device.
func (a *swarmAgent) pair() {
	a.pairs.Lock() // one at a time: a burst of codes from one address looks like guessing
	defer a.pairs.Unlock()
	until := time.Now().Add(hearing)
	for status, body := 0, []byte(nil); status != http.StatusCreated; {
		var code api.Pairing
		if status, body, _ = a.call("POST", "/v1/pairings", a.admin, map[string]any{}); status == http.StatusCreated {
			_ = json.Unmarshal(body, &code)
			status, body, _ = a.call("POST", "/v1/provider/pair", "", api.PairRequest{Code: code.Code, Name: "mini"})
		}
		var paired api.PairAnswer
		tooBusy := status == http.StatusServiceUnavailable && time.Now().Before(until)
		if json.Unmarshal(body, &paired) != nil || status != http.StatusCreated && !tooBusy {
			a.Fatalf("pair: %d %s", status, body)
		}
		a.id, a.token, a.unheard = paired.DeviceID, paired.DeviceToken, nil
	}
}

func (a *swarmAgent) live(leave <-chan struct{}) {
	a.connect(a.runs)
	for {
		select {
		case h := <-a.heard:
			a.hear(h)
		case <-time.After(time.Duration(5+a.rng.IntN(40)) * time.Millisecond):
		case <-leave:
			if a.link != nil {
				a.link.say(&agentproto.Bye{Reason: "done", Keep: []agentproto.IDs{}})
				a.shut(a.link)
			}
			close(a.gone)
			a.readers.Wait()
			return
		}
		a.step()
	}
}

// connect says hello on a new socket, as one that still holds these runs.
func (a *swarmAgent) connect(list []*swarmRun) {
	l := a.dial()
	if l == nil {
		return
	}
	a.link = l
	l.rivals = slices.Clone(a.unheard)
	a.unheard = append(a.unheard, l)
	hello := &agentproto.Hello{
		Protocol: 1, AgentVersion: "swarm", Slots: a.slots, Services: []string{"ffmpeg.transcode"},
		Device: agentproto.Device{MemoryBytes: 16 << 30, Features: []string{"libx265", "zscale"}}, Resume: []agentproto.ResumeEntry{},
	}
	for _, r := range list {
		r.resuming = true
		hello.Resume = append(hello.Resume, agentproto.ResumeEntry{IDs: r.IDs, CommitToken: r.token})
	}
	l.helloAt = a.now()
	l.say(hello)
}

func (a *swarmAgent) ready() {
	if a.link != nil {
		a.link.say(&agentproto.Ready{SlotsFree: max(0, a.slots-len(a.runs))})
	}
}

// step does what is due: a heartbeat, the next stage of a run, or a fault.
func (a *swarmAgent) step() {
	now := time.Now()
	if a.link == nil {
		a.connect(a.runs)
		return
	}
	if !a.calm.Load() && now.After(a.nextFault) && !slices.ContainsFunc(a.runs, func(r *swarmRun) bool { return r.mute }) {
		a.nextFault = now.Add(time.Duration(200+a.rng.IntN(800)) * time.Millisecond)
		a.err()
		return
	}
	if !a.restUntil.IsZero() && now.After(a.restUntil) {
		a.restUntil = time.Time{}
		a.ready()
	}
	if !a.drainedUntil.IsZero() && now.After(a.drainedUntil) {
		a.drain(false)
	}
	if a.hold.Load() && len(a.runs) >= a.slots {
		a.full.Store(true)
	}
	for _, r := range slices.Clone(a.runs) {
		switch {
		case r.resuming, r.stage == committed:
		case r.mute && !a.calm.Load():
			a.overdue(r)
		case now.After(r.due) && r.stage != asking && !a.hold.Load():
			r.due = now.Add(time.Duration(a.rng.IntN(600)) * time.Millisecond)
			a.advance(r)
		case now.After(r.beat):
			a.progress(a.link, r)
		}
	}
}

// overdue ends a run whose lease has run out in silence: with a commit, which
// comes too late, where there is something to commit.
func (a *swarmAgent) overdue(r *swarmRun) {
	switch {
	case time.Now().Before(r.due):
	case r.stage == uploaded:
		a.count("commit after the expiry")
		a.commit(a.link, r)
	default:
		a.drop(r.AttemptID)
	}
}

func (r *swarmRun) silence() { r.mute, r.due = true, time.Now().Add(swarmTTL+500*time.Millisecond) }

func (a *swarmAgent) progress(l *swarmLink, r *swarmRun) {
	r.beat = time.Now().Add(swarmTTL / 4)
	phase := [...]string{"downloading", "running", "running", "uploading", "uploading"}[r.stage]
	a.ask(l, r, r.IDs, &agentproto.Progress{IDs: r.IDs, Phase: phase, Fraction: ptr(a.rng.Float64())})
}

func (a *swarmAgent) ask(l *swarmLink, r *swarmRun, ids agentproto.IDs, m agentproto.Message) {
	l.asked[ids] = append(l.asked[ids], swarmAsk{at: a.now(), n: r.n, stale: ids.LeaseEpoch < r.LeaseEpoch})
	l.say(m)
}

// advance takes a run one stage on.
func (a *swarmAgent) advance(r *swarmRun) {
	switch r.stage {
	case taken:
		if a.rng.IntN(4) == 0 {
			if status, body, _ := a.call("GET", r.input.URL, "", nil); status != http.StatusOK || sum(body) != r.input.SHA256 {
				a.wrong("the input came as %d, %d bytes", status, len(body))
			}
			a.count("input download")
		}
		r.stage = running
		a.progress(a.link, r)
	case running:
		r.output = swarmOutput(clip(a).output, r.AttemptID)
		if r.lie == "truncated media" {
			r.output = r.output[:len(r.output)/2]
		}
		r.stage = asking
		r.beat = time.Now().Add(swarmTTL / 4)
		a.ask(a.link, r, r.IDs, &agentproto.Upload{IDs: r.IDs, Bytes: int64(len(r.output)), SHA256: sum(r.output), Parts: swarmParts(r.output, r.partSize)})
	case uploaded:
		a.commit(a.link, r)
	}
}

// granted writes the parts to their URLs; some write others than they said.
func (a *swarmAgent) granted(r *swarmRun, m *agentproto.UploadGrant) {
	for _, p := range m.Parts {
		from := int64(p.Number-1) * r.partSize
		part := r.output[from:min(from+r.partSize, int64(len(r.output)))]
		if r.lie == "swapped part" && p.Number == 1 {
			part = slices.Clone(part)
			part[len(part)/2] ^= 1
		}
		status, body, _ := a.call("PUT", p.URL, "", part)
		if swapped := r.lie == "swapped part" && p.Number == 1; swapped && status == http.StatusOK {
			a.wrong("a part with other bytes than its URL is bound to was taken")
		} else if !swapped && status != http.StatusOK && status != http.StatusConflict && status != http.StatusForbidden && status != http.StatusNotFound && status != http.StatusServiceUnavailable {
			a.wrong("PUT of part %d: %d %s", p.Number, status, body)
		}
	}
	r.urls, r.stage = m.Parts, uploaded
}

// claim is the commit of a run, or the lie that it tells.
func (r *swarmRun) claim() *agentproto.Commit {
	c := &agentproto.Commit{IDs: r.IDs, CommitToken: r.token, Bytes: int64(len(r.output)), SHA256: sum(r.output)}
	switch r.lie {
	case "wrong digest":
		c.SHA256 = sum([]byte("another file"))
	case "wrong length":
		c.Bytes++
	}
	return c
}

func (a *swarmAgent) commit(l *swarmLink, r *swarmRun) {
	r.stage = committed
	a.sayCommit(l, r, r.claim(), true)
	if r.lie != "" {
		a.count(r.lie)
	}
}

// sayCommit says a commit and notes it; newest is whether its identity is.
func (a *swarmAgent) sayCommit(l *swarmLink, r *swarmRun, m *agentproto.Commit, newest bool) {
	c := &swarmCommit{
		job: m.JobID, attempt: m.AttemptID, n: r.n, identity: identity{m.LeaseEpoch, m.CommitToken},
		bytes: m.Bytes, sha: m.SHA256, newest: newest, call: a.now(), ret: never,
	}
	a.mu.Lock()
	a.commits = append(a.commits, c)
	a.mu.Unlock()
	l.commits[m.AttemptID] = append(l.commits[m.AttemptID], c)
	l.say(m)
}

// giveUp says fail.
func (a *swarmAgent) giveUp(r *swarmRun, code string) {
	f := &swarmFail{job: r.JobID, n: r.n, call: a.now()}
	a.mu.Lock()
	a.fails[r.AttemptID] = append(a.fails[r.AttemptID], f)
	a.mu.Unlock()
	a.link.fails[r.AttemptID] = append(a.link.fails[r.AttemptID], f)
	r.resuming = true
	a.link.say(&agentproto.Fail{IDs: r.IDs, CommitToken: r.token, FailureCode: code, Message: "it broke"})
}

// drop forgets a run: it is over, or another's.
func (a *swarmAgent) drop(attemptID string) {
	before := len(a.runs)
	a.runs = slices.DeleteFunc(a.runs, func(r *swarmRun) bool { return r.AttemptID == attemptID })
	if len(a.runs) < before {
		a.ready()
	}
}

func (a *swarmAgent) run(attemptID string) *swarmRun {
	if i := slices.IndexFunc(a.runs, func(r *swarmRun) bool { return r.AttemptID == attemptID }); i >= 0 {
		return a.runs[i]
	}
	return nil
}

// ended takes in a socket's end.
func (a *swarmAgent) ended(h swarmHeard) {
	switch h.code {
	case agentproto.CloseStoreFailure: // as 503
		a.count("1011")
	case agentproto.ClosePolicy, agentproto.CloseTooBig, agentproto.CloseProtocol, agentproto.CloseGoingAway:
		a.wrong("agent %d was closed with %d", a.n, h.code)
	case agentproto.CloseReplaced:
		switch {
		case h.link != a.link:
		case a.overtaken(h.link):
			a.count("overtaken by an older hello")
		default:
			a.wrong("agent %d: its newest socket was closed as replaced, %v after its hello; %d hellos were unheard then", a.n, time.Duration(a.now()-h.link.helloAt), len(h.link.rivals))
		}
	case websocket.StatusNormalClosure, agentproto.CloseRevoked, -1:
	default:
		a.wrong("agent %d was closed with %d", a.n, h.code)
	}
	if h.code != -1 && h.code != websocket.StatusNormalClosure { // the server's own: it has dealt with the hello
		a.wasHeard(h.link)
	}
	if h.link == a.link {
		a.link = nil
	}
}

// wasHeard: what was stored of this hello was stored before now.
func (a *swarmAgent) wasHeard(l *swarmLink) {
	a.unheard = slices.DeleteFunc(a.unheard, func(was *swarmLink) bool { return was == l })
}

// overtaken says whether the newest session may have been replaced by an
// earlier hello that was stored after it. A hello does that once, and soon.
func (a *swarmAgent) overtaken(l *swarmLink) bool {
	i := slices.IndexFunc(l.rivals, func(r *swarmLink) bool { return !r.overtook && a.now()-r.helloAt < int64(hearing) })
	if i >= 0 {
		l.rivals[i].overtook = true
	}
	return i >= 0
}
