package fence

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// world drives the model with random events and remembers what every agent
// has ever been told, so that stale identities come back at any moment.
type world struct {
	*Model
	rnd      *rand.Rand
	sessions map[string]string
	known    []Claim // every identity ever handed out, the newest last
	newest   map[string]Claim
	serial   int
	accepted int
}

func newWorld(seed uint64) *world {
	w := &world{
		Model: NewModel(time.Unix(1_800_000_000, 0), time.Minute, true), rnd: rand.New(rand.NewPCG(seed, 1)),
		sessions: map[string]string{}, newest: map[string]Claim{},
	}
	for _, d := range []string{"dev_a", "dev_b"} {
		w.hello(d, nil)
	}
	for i := range 3 {
		w.Submit(fmt.Sprintf("job_%d", i), 1+w.rnd.IntN(3), time.Time{})
	}
	return w
}

func (w *world) name(kind string) string {
	w.serial++
	return fmt.Sprintf("%s_%d", kind, w.serial)
}

func (w *world) hello(device string, list []Claim) {
	session := w.name("ses")
	secrets := make([]string, len(list))
	hashes := make([]string, len(list))
	for i := range list {
		secrets[i] = w.name("secret")
		hashes[i] = HashToken(secrets[i])
	}
	w.sessions[device] = session
	for i, id := range w.Hello(device, session, list, hashes) {
		a := w.attempt(id)
		w.learn(Claim{JobID: a.JobID, AttemptID: id, DeviceID: device, Epoch: a.Epoch, Token: secrets[i]})
	}
}

func (w *world) learn(c Claim) {
	w.known = append(w.known, c)
	w.newest[c.AttemptID] = c
}

// any is some identity ever handed out, with the device's session of now.
func (w *world) any() Claim {
	if len(w.known) == 0 {
		return Claim{DeviceID: "dev_a"}
	}
	c := w.known[len(w.known)-1-min(w.rnd.IntN(4), w.rnd.IntN(len(w.known)))]
	c.SessionID = w.sessions[c.DeviceID]
	if w.rnd.IntN(10) == 0 {
		c.Epoch++
	}
	if w.rnd.IntN(10) == 0 {
		c.SessionID = "ses_old"
	}
	return c
}

func (w *world) device() string { return []string{"dev_a", "dev_b"}[w.rnd.IntN(2)] }
func (w *world) job() string    { return fmt.Sprintf("job_%d", w.rnd.IntN(3)) }

// act takes one random step. Refusals are expected: the invariants decide.
func (w *world) act(t *testing.T) string {
	c := w.any()
	r := Result{Bytes: int64(w.rnd.IntN(2)), SHA256: "x"}
	switch event := w.rnd.IntN(14); event {
	case 0, 1:
		secret, device := w.name("secret"), w.device()
		a := w.name("att")
		if job := w.job(); !w.Devices[device].Revoked && w.Lease(job, device, a, HashToken(secret)) == nil {
			w.learn(Claim{JobID: job, AttemptID: a, DeviceID: device, Epoch: 1, Token: secret})
		}
		return "lease"
	case 2, 3:
		_, _ = w.Progress(c, []AttemptStatus{AttemptDownloading, AttemptRunning, AttemptUploading}[w.rnd.IntN(3)])
		return "progress"
	case 4:
		_, _ = w.Upload(c)
		return "upload"
	case 5, 6:
		w.commit(t, c, r)
		return "commit"
	case 7:
		if a := w.attempt(c.AttemptID); a != nil {
			w.Verdict(a.ID, Verdict{Verified: true})
		}
		return "verified"
	case 8:
		if a := w.attempt(c.AttemptID); a != nil {
			w.Verdict(a.ID, Verdict{Code: VerificationFailed})
		}
		return "not verified"
	case 9:
		_ = w.Fail(c, []string{RunnerFailed, DownloadFailed}[w.rnd.IntN(2)])
		return "fail"
	case 10:
		_ = w.Cancel(w.job())
		return "cancel"
	case 11:
		w.Now = w.Now.Add(time.Duration(w.rnd.IntN(50)) * time.Second)
		w.Expire()
		return "expire"
	case 12:
		if !w.Devices[c.DeviceID].Revoked {
			w.hello(c.DeviceID, []Claim{c, w.any()})
		}
		return "resume"
	default:
		if w.rnd.IntN(6) == 0 {
			w.Revoke(w.device())
			return "revoke"
		}
		w.Restart(time.Duration(w.rnd.IntN(90)) * time.Second)
		return "restart"
	}
}

func (w *world) commit(t *testing.T, c Claim, r Result) {
	step, err := w.Commit(c, r)
	if err != nil {
		return
	}
	if best := w.newest[c.AttemptID]; c.Epoch != best.Epoch || c.Token != best.Token {
		t.Fatalf("a commit (step %d) passed under epoch %d, the newest is %d", step, c.Epoch, best.Epoch)
	}
	w.accepted++
}

func TestModel_500RandomHistories(t *testing.T) {
	seen := map[string]int{}
	accepted := 0
	histories := uint64(500)
	if os.Getenv("RENDERMAC_SOAK") != "" {
		histories = 100_000
	}
	for seed := range histories {
		w := newWorld(seed)
		for step := range 120 {
			event := w.act(t)
			seen[event]++
			if err := w.Check(); err != nil {
				t.Fatalf("seed %d, step %d, after %s: %v", seed, step, event, err)
			}
		}
		accepted += w.accepted
		for _, j := range w.Jobs {
			seen["job "+string(j.Status)]++
		}
	}
	for _, want := range []string{"lease", "resume", "revoke", "restart", "job succeeded", "job failed", "job cancelled"} {
		if seen[want] == 0 {
			t.Errorf("no history saw %q: %v", want, seen)
		}
	}
	if accepted < 100 {
		t.Errorf("only %d commits were accepted: the histories are too wild to mean anything", accepted)
	}
}
