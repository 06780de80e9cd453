package store_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"

	"pgregory.net/rapid"
)

// twin drives fence.Model and a real SQLite file with the same events, and holds
// all rows against the model after every step.
type twin struct {
	*store.DB
	t       *rapid.T
	seen    *sightings
	model   *fence.Model
	clock   *storetest.Clock
	options store.Options
	home    home
	rows    *rowReader
	crashes int

	macs   []*mac
	known  []fence.Claim // every identity that an agent has ever learned
	asked  map[string]ask
	logs   map[string]string       // by attempt: what was kept of its lines
	grants map[string]fence.Result // by attempt: what was declared last
	nextAt time.Time               // when the last sweep wanted to look again
	before fence.ModelRun          // the run of the last claim, as it was before
	limit  *int64                  // of the account's credits
	used   int64                   // of them, by holds and successes

	clockSet bool // just now: the next verb moves the leases first (F15)
}

// mac is a paired device. Two agents may run with its pairing: the newest of its
// sessions is the one that counts, and the replaced ones go on speaking.
type mac struct {
	id       string
	sessions []string // those whose hello_ok arrived, the newest last
}

// ask is what a job's rows say beside what the rules look at.
type ask struct {
	credits int64
	webhook []string // nil: nobody is to be told
}

// home is a database with an account, a complete upload and two paired Macs,
// made once and copied for every history.
type home struct {
	dir, account, upload string
	macs                 []string
}

// memory is a folder that no disk slows down, where there is one.
func memory(t *testing.T) string {
	base := "/dev/shm"
	if _, err := os.Stat(base); err != nil {
		base = ""
	}
	dir, err := os.MkdirTemp(base, "rendermac-model-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newHome(t *testing.T) home {
	h := home{dir: filepath.Join(memory(t), "home")}
	db, err := store.Open(ctx, storetest.Options(h.dir, storetest.NewClock()))
	must(t, err)
	h.account = storetest.MustAccount(t, db)
	h.upload = storetest.MustUpload(t, db, h.account)
	for range 2 {
		h.macs = append(h.macs, storetest.MustPair(t, db, "mini").DeviceID)
	}
	must(t, db.Close())
	return h
}

var twins struct {
	sync.Mutex
	n int
}

// newTwin starts a history in a copy of h. Its ids and secrets are drawn anew in
// the same order every time, so that a replayed history is the same in every byte.
func newTwin(t *rapid.T, h home, seen *sightings, resume bool) *twin {
	twins.Lock()
	twins.n++
	dir := filepath.Join(filepath.Dir(h.dir), fmt.Sprint("twin-", twins.n))
	twins.Unlock()
	w := &twin{
		t: t, seen: seen, clock: storetest.NewClock(), home: h,
		asked: map[string]ask{}, logs: map[string]string{}, grants: map[string]fence.Result{},
	}
	w.options = storetest.Options(dir, w.clock)
	w.options.Resume, w.options.Rand, w.options.Log = resume, rand.NewChaCha8([32]byte{1}), slog.New(slog.DiscardHandler)
	w.model = fence.NewModel(w.clock.Now(), fence.Terms{
		LeaseTTL: w.options.LeaseTTL, DeviceTTL: w.options.DeviceTTL, Backoff: w.options.RetryBackoff, Resume: resume,
	})
	t.Cleanup(func() {
		w.close()
		os.RemoveAll(dir)
	})
	w.copy(h.dir)
	w.open()
	for _, id := range h.macs {
		w.model.Pair(id)
		w.macs = append(w.macs, &mac{id: id})
	}
	w.rows.from(len(w.model.History))
	w.greet(w.macs[0], nil, false)
	w.greet(w.macs[1], nil, false)
	w.submit(step{})
	w.compare()
	return w
}

func (w *twin) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v", err)
	}
}

// copy takes the files of another folder as a crash would leave them: the log of
// what is not in the database itself yet comes along.
func (w *twin) copy(from string) {
	w.must(os.MkdirAll(filepath.Dir(w.options.Path), 0o700))
	for _, name := range []string{"rendermac.db", "rendermac.db-wal", "revoked"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if os.IsNotExist(err) {
			continue
		}
		w.must(err)
		w.must(os.WriteFile(filepath.Join(filepath.Dir(w.options.Path), name), text, 0o600))
	}
}

func (w *twin) open() {
	db, err := store.Open(ctx, w.options)
	w.must(err)
	w.DB = db
	w.rows = openRows(w.t, w.options.Path, w.rows)
}

func (w *twin) close() {
	if w.rows != nil {
		w.rows.close()
	}
	if w.DB != nil {
		w.must(w.DB.Close())
	}
	w.DB = nil
}

// session is the one that an agent of m speaks on: who 0 to 13 is the newest that
// any of them knows of; above that, one that it has replaced.
func (m *mac) session(who int) string {
	if len(m.sessions) == 0 {
		return ""
	}
	return m.sessions[max(0, len(m.sessions)-1-max(0, who-13))]
}

func (w *twin) mac(i int) *mac { return w.macs[i%len(w.macs)] }

func (w *twin) macOf(device string) *mac {
	for _, m := range w.macs {
		if m.id == device {
			return m
		}
	}
	return &mac{id: device} // revoked: another is in its place
}

// claim is an identity that was handed out at some time, the newest ones most
// often, spoken on a session of its device; and sometimes a little wrong.
func (w *twin) claim(s step) fence.Claim {
	if len(w.known) == 0 {
		m := w.mac(s.Mac)
		return fence.Claim{DeviceID: m.id, SessionID: m.session(s.Who), JobID: "job_0", AttemptID: "att_0", Epoch: 1, Token: "x"}
	}
	c := w.identity(s.Run)
	c.SessionID = w.macOf(c.DeviceID).session(s.Who)
	c = w.lie(c, s)
	if run := w.model.Run(c.AttemptID); run != nil {
		w.before = *run
	}
	return c
}

// identity is one that an agent has learned: mostly the newest of a run that is
// still live, else any at all.
func (w *twin) identity(back int) fence.Claim {
	list := w.known
	if back < 24 {
		if live := w.live(); len(live) > 0 {
			list = live
		}
	}
	return list[len(list)-1-back%len(list)]
}

func (w *twin) live() (list []fence.Claim) {
	for _, c := range w.known {
		if r := w.model.Run(c.AttemptID); r.Status.Live() && r.Epoch == c.Epoch {
			list = append(list, c)
		}
	}
	return list
}

func (w *twin) lie(c fence.Claim, s step) fence.Claim {
	other := w.identity(s.Run + 1 + s.N)
	stranger := w.mac(slices.IndexFunc(w.macs, func(m *mac) bool { return m.id == c.DeviceID }) + 1)
	switch s.Lie {
	case 54:
		c.Epoch++
	case 55:
		c.Epoch--
	case 56:
		c.Token += "x"
	case 57:
		c.Token = other.Token
	case 58:
		c.SessionID = stranger.session(0)
	case 59:
		c.JobID = other.JobID
	case 60:
		c.AttemptID = other.AttemptID
	case 61:
		c.AttemptID = "att_0"
	case 62:
		c.SessionID, c.Token = "", ""
	case 63:
		c.DeviceID, c.SessionID = stranger.id, stranger.session(0)
	}
	return c
}

// newest are the newest identities of a device's last runs: what an honest agent
// lists when it comes back.
func (w *twin) newest(device string) (list []fence.Claim) {
	told := map[string]bool{}
	for _, c := range slices.Backward(w.known) {
		if c.DeviceID == device && !told[c.AttemptID] && len(list) < 4 {
			list = append(list, c)
		}
		told[c.AttemptID] = true
	}
	return list
}

// same holds two refusals, or two passes, against each other.
func (w *twin) same(what string, got, want error) {
	w.t.Helper()
	if fence.CodeOf(got) != fence.CodeOf(want) || (got == nil) != (want == nil) {
		w.t.Fatalf("%s: the store says %v, the model %v", what, got, want)
	}
}

func (w *twin) equal(what string, got, want any) {
	w.t.Helper()
	if got != want {
		w.t.Fatalf("%s: the store says %v, the model %v", what, got, want)
	}
}
