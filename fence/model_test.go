package fence

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"rendermac/fence/fencetest"

	"pgregory.net/rapid"
)

// move is one drawn event of a history; it refers to things by small numbers,
// counted back from the newest.
type move struct {
	Event               string
	Mac, Run, Job, Lie  int
	Session, Much, Else int
}

var moves = []string{
	"lease", "progress", "upload", "commit", "verdict", "submit", "lease", "upload", "commit", "hello", "progress", "fail", "lease", "upload", "commit", "verdict",
	"cancel", "expire", "hello", "log", "bye", "restart", "set", "cancel", "fail", "lease", "upload", "commit", "verdict", "hello", "expire", "revoke", "drain",
}

var drawMove = rapid.Custom(func(t *rapid.T) move {
	small := func(name string, most int) int { return rapid.IntRange(0, most).Draw(t, name) }
	return move{
		Event: rapid.SampledFrom(moves).Draw(t, "event"), Mac: small("mac", 1), Run: small("run", 20), Job: small("job", 6),
		Lie: small("lie", 31), Session: small("session", 9), Much: small("much", 7), Else: small("else", 7),
	}
})

// world drives the model alone, and remembers what every agent has ever been
// told, so that stale identities come back at any moment.
type world struct {
	*Model
	t        *rapid.T
	sessions map[string][]string // by device, the newest last
	macs     []string
	known    []Claim // every identity ever handed out, the newest last
	serial   int
	accepted int
}

func newWorld(t *rapid.T, resume bool) *world {
	terms := Terms{LeaseTTL: time.Minute, DeviceTTL: 90 * time.Second, Backoff: 5 * time.Second, Resume: resume}
	w := &world{Model: NewModel(time.Unix(1_800_000_000, 0), terms), t: t, sessions: map[string][]string{}}
	for range 2 {
		w.macs = append(w.macs, w.name("dev"))
		w.Pair(w.macs[len(w.macs)-1])
		w.greet(w.macs[len(w.macs)-1], nil)
	}
	for range 3 {
		w.act(move{Event: "submit", Much: 2})
	}
	return w
}

func (w *world) name(kind string) string {
	w.serial++
	return fmt.Sprintf("%s_%d", kind, w.serial)
}

func (w *world) greet(device string, list []Claim) {
	secrets, hashes := make([]string, len(list)), make([]string, len(list))
	for i := range list {
		secrets[i] = w.name("secret")
		hashes[i] = HashToken(secrets[i])
	}
	session := w.name("ses")
	answers, _ := w.Hello(device, session, list, hashes)
	w.sessions[device] = append(w.sessions[device], session)
	for i, a := range answers {
		if a.Resumed {
			w.known = append(w.known, Claim{DeviceID: device, JobID: list[i].JobID, AttemptID: list[i].AttemptID, Epoch: w.Run(list[i].AttemptID).Epoch, Token: secrets[0]})
			secrets = secrets[1:] // drawn in the order of those that pass
		}
	}
}

func (w *world) session(device string, back int) string {
	list := w.sessions[device]
	return list[max(0, len(list)-1-max(0, back-7))]
}

// claim is some identity ever handed out, on a session of its device, and
// sometimes a little wrong.
func (w *world) claim(m move) Claim {
	if len(w.known) == 0 {
		return Claim{DeviceID: w.macs[m.Mac], SessionID: w.session(w.macs[m.Mac], 0), JobID: "job_0", AttemptID: "att_0", Epoch: 1}
	}
	c := w.known[len(w.known)-1-m.Run%len(w.known)]
	other := w.known[len(w.known)-1-m.Else%len(w.known)]
	c.SessionID = w.session(c.DeviceID, m.Session)
	switch m.Lie {
	case 26:
		c.Epoch++
	case 27:
		c.Epoch--
	case 28:
		c.Token = other.Token
	case 29:
		c.JobID = other.JobID
	case 30:
		c.AttemptID = other.AttemptID
	case 31:
		c.DeviceID, c.SessionID = w.macs[m.Mac], w.session(w.macs[m.Mac], 0)
	}
	return c
}

// act takes one step. Refusals are expected: the invariants decide.
func (w *world) act(m move) {
	c, device := w.claim(m), w.macs[m.Mac]
	switch m.Event {
	case "submit":
		j := ModelJob{Job: Job{ID: w.name("job"), MaxAttempts: 1 + m.Much%3}}
		if m.Else > 5 && len(w.Jobs) > 0 {
			j.Inputs = []string{w.Jobs[m.Job%len(w.Jobs)].ID}
		}
		_ = w.Submit(j)
	case "lease":
		if p := w.Pull(device, w.session(device, m.Session)); p.Job != "" {
			attempt, secret := w.name("att"), w.name("secret")
			w.Lease(p.Job, device, attempt, HashToken(secret))
			w.known = append(w.known, Claim{DeviceID: device, JobID: p.Job, AttemptID: attempt, Epoch: 1, Token: secret})
		}
	case "progress":
		_, _ = w.Progress(c, []AttemptStatus{AttemptDownloading, AttemptRunning, AttemptUploading}[m.Much%3])
	case "upload":
		_, _ = w.Upload(c)
	case "log":
		_, _ = w.Inputs(c)
		_ = w.Log(c)
	case "commit":
		w.commit(c, Result{Bytes: int64(m.Much / 7), SHA256: "x"})
	case "verdict":
		for _, r := range w.Runs {
			if r.Status == AttemptCommitting || m.Else == 7 {
				w.Verdict(r.ID, Verdict{Verified: m.Much < 6, Code: VerificationFailed})
				break
			}
		}
	case "fail":
		_ = w.Fail(c, []string{DownloadFailed, RunnerFailed, InternalError, "gremlins"}[m.Much%4])
	case "cancel":
		if len(w.Jobs) > 0 {
			_ = w.Cancel(w.Jobs[len(w.Jobs)-1-m.Job%len(w.Jobs)].ID)
		}
	default:
		w.time(m, c, device)
	}
}

// time is what happens to devices, clocks and the server.
func (w *world) time(m move, c Claim, device string) {
	seconds := time.Duration(m.Much*m.Much*m.Else) * time.Second
	switch m.Event {
	case "expire":
		w.Now = w.Now.Add(seconds)
		w.Expire()
	case "hello":
		list := []Claim{c, w.claim(move{Run: m.Else}), c}[:m.Much%4]
		if m.Else < 6 { // an honest agent lists all it knows
			list = w.known[max(0, len(w.known)-6):]
		}
		w.greet(device, list)
	case "bye":
		w.Bye(device, w.session(device, m.Session), []string{c.AttemptID})
	case "restart":
		w.Restart(seconds - 20*time.Second)
	case "set":
		w.Set(seconds - 20*time.Second)
	case "drain":
		w.Drain(device, m.Much > 3)
	case "revoke":
		w.Revoke(device)
		w.macs[m.Mac] = w.name("dev")
		w.Pair(w.macs[m.Mac])
		w.greet(w.macs[m.Mac], nil)
	}
}

// commit holds what passes against what the agents were told: nothing that was
// replaced may ever settle a job.
func (w *world) commit(c Claim, r Result) {
	if _, err := w.Commit(c, r); err != nil {
		return
	}
	w.accepted++
	for _, k := range w.known {
		if k.AttemptID == c.AttemptID && (k.Epoch > c.Epoch || k.Epoch == c.Epoch && k.Token != c.Token) {
			w.t.Fatalf("a commit passed under epoch %d, the newest is %d", c.Epoch, k.Epoch)
		}
	}
}

// The invariants hold after every step of every history. A failure prints a seed
// and the shortest history found: replay it with
//
//	go test ./fence -run TestModel_RandomHistories -rapid.seed=N
//
// RENDERMAC_SOAK=1 runs 100,000 of them.
func TestModel_RandomHistories(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	n := fencetest.Histories(t, func(rt *rapid.T) {
		w := newWorld(rt, rapid.IntRange(0, 9).Draw(rt, "resume, but for 9") < 9)
		for range 120 {
			w.act(drawMove.Draw(rt, "move"))
			if err := w.Check(); err != nil {
				rt.Fatalf("%v", err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		seen["history"]++
		seen["commit"] += w.accepted
		for _, e := range w.History {
			seen[e.Type]++
		}
	})
	if seen["history"] < n { // rapid ends early, and passes, where the test's deadline comes near
		t.Fatalf("only %d of %d histories ran: give the test more time with -timeout", seen["history"], n)
	}
	for _, want := range []string{
		"attempt.leased", "attempt.resumed", "device.revoked", "device.draining", "device.resumed", "job.requeued", "job.cancelling", "job.verifying", "job.succeeded", "job.failed", "job.cancelled",
	} {
		if seen[want] < n/50 {
			t.Errorf("%d histories saw %q %d times: they are too tame to mean anything", n, want, seen[want])
		}
	}
	if seen["commit"] < n/2 { // one a history is the mean
		t.Errorf("%d histories saw %d accepted commits: they are too wild to mean anything", n, seen["commit"])
	}
}

// Where the model itself forgets a rule, its own invariants say so.
func TestModel_CheckSeesABrokenWorld(t *testing.T) {
	for rule, spoil := range map[string]func(*Model){
		"F1": func(m *Model) { m.Runs[0].Number = 2 },
		"F2": func(m *Model) {
			m.Runs = append(m.Runs, &ModelRun{Attempt: Attempt{JobID: "job", Number: 2, Status: AttemptLeased}})
		},
		"F9":  func(m *Model) { m.Job("job").Status = JobQueued },
		"F11": func(m *Model) { m.Runs[0].Status, m.Job("job").Status = AttemptFailed, JobFailed },
	} {
		m := NewModel(time.Unix(1_800_000_000, 0), Terms{LeaseTTL: time.Minute, DeviceTTL: time.Minute, Resume: true})
		m.Pair("dev")
		m.Hello("dev", "ses", nil, nil)
		if err := m.Submit(ModelJob{Job: Job{ID: "job", MaxAttempts: 1}}); err != nil {
			t.Fatal(err)
		}
		m.Lease("job", "dev", "att", HashToken("x"))
		if err := m.Check(); err != nil {
			t.Fatal(err)
		}
		spoil(m)
		if err := m.Check(); err == nil || !strings.HasPrefix(err.Error(), rule+":") {
			t.Errorf("%s is broken, and the check says %v", rule, err)
		}
	}
}
