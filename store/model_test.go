package store_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// twin drives fence.Model and a real SQLite file with the same random events,
// and holds the rows against the model after every step.
type twin struct {
	*fixture
	t     *testing.T
	model *fence.Model
	rnd   *rand.Rand
	macs  []store.Session
	known []fence.Claim // every identity ever handed out
	rows  *sql.DB
}

func newTwin(t *testing.T, seed uint64) *twin {
	f := &fixture{clock: storetest.NewClock(), dir: t.TempDir()}
	f.DB = storetest.MustOpen(t, storetest.Options(f.dir, f.clock))
	f.account = storetest.MustAccount(t, f.DB)
	f.upload = storetest.MustUpload(t, f.DB, f.account)
	w := &twin{fixture: f, t: t, model: fence.NewModel(f.clock.Now(), storetest.TTL, true), rnd: rand.New(rand.NewPCG(seed, 2))}
	rows, err := sql.Open("sqlite", "file:"+filepath.Join(f.dir, "rendermac.db")+"?mode=ro")
	must(t, err)
	w.rows = rows
	t.Cleanup(func() { rows.Close() })
	for range 2 {
		w.macs = append(w.macs, store.Session{DeviceID: storetest.MustPair(t, w.DB, "mini").DeviceID})
		w.hello(len(w.macs) - 1)
	}
	for range 3 {
		w.queue()
	}
	return w
}

func (w *twin) queue() {
	attempts := 1 + w.rnd.IntN(3)
	id := w.fixture.submit(w.t, func(j *store.NewJob) { j.MaxAttempts = attempts })
	w.model.Submit(id, attempts, time.Time{})
}

func (w *twin) mac() int { return w.rnd.IntN(len(w.macs)) }

// any is an identity that was handed out at some time, the newest ones most
// often, spoken on its device's session of now, sometimes a little wrong.
func (w *twin) any() fence.Claim {
	if len(w.known) == 0 {
		return fence.Claim{DeviceID: w.macs[0].DeviceID, SessionID: w.macs[0].SessionID, JobID: "job_0", AttemptID: "att_0"}
	}
	c := w.known[len(w.known)-1-min(w.rnd.IntN(5), w.rnd.IntN(len(w.known)))]
	for _, m := range w.macs {
		if m.DeviceID == c.DeviceID {
			c.SessionID = m.SessionID
		}
	}
	switch w.rnd.IntN(20) {
	case 0:
		c.Epoch++
	case 1:
		c.Token += "x"
	case 2:
		c.SessionID = "ses_old"
	}
	return c
}

func (w *twin) hello(i int, list ...fence.Claim) {
	out, err := w.Hello(ctx, store.Hello{DeviceID: w.macs[i].DeviceID, Slots: 9, Services: []string{"ffmpeg.transcode"}, Facts: []byte(`{}`), Resume: list})
	must(w.t, err)
	w.macs[i] = out.Session
	var hashes []string
	for _, r := range out.Resumptions {
		if r.Resumed {
			hashes = append(hashes, fence.HashToken(r.CommitToken))
			w.known = append(w.known, fence.Claim{DeviceID: out.DeviceID, JobID: r.JobID, AttemptID: r.AttemptID, Epoch: r.Epoch, Token: r.CommitToken})
		}
	}
	// The store answers in the list's order, and so draws the model.
	if got := w.model.Hello(out.DeviceID, out.SessionID, list, append(hashes, "", "", "")); len(got) != len(hashes) {
		w.t.Fatalf("the store resumed %d, the model %v", len(hashes), got)
	}
}

// same holds two refusals, or two passes, against each other.
func (w *twin) same(what string, got, want error) {
	w.t.Helper()
	if fence.CodeOf(got) != fence.CodeOf(want) || (got == nil) != (want == nil) {
		w.t.Fatalf("%s: the store says %v, the model %v", what, got, want)
	}
}

func (w *twin) step() string {
	c := w.any()
	c2 := w.any()
	r := fence.Result{Bytes: 4, SHA256: result.SHA256}
	switch w.rnd.IntN(15) {
	case 0, 1, 2:
		return w.lease()
	case 3, 4:
		phase := []fence.AttemptStatus{fence.AttemptDownloading, fence.AttemptRunning, fence.AttemptUploading}[w.rnd.IntN(3)]
		_, want := w.model.Progress(c, phase)
		w.same("progress", w.progress(c, phase), want)
		return "progress"
	case 5:
		_, want := w.model.Upload(c)
		_, got := w.Upload(ctx, c, r, []store.Part{{Number: 1, Bytes: 4, SHA256: r.SHA256}})
		w.same("upload", got, want)
		return "upload"
	case 6, 7:
		if w.rnd.IntN(5) == 0 {
			r.Bytes++
		}
		_, want := w.model.Commit(c, r)
		_, got := w.Commit(ctx, c, r, nil)
		w.same("commit", got, want)
		return "commit"
	case 8, 9:
		return w.verdict(c)
	case 10:
		code := []string{fence.RunnerFailed, fence.DownloadFailed, "gremlins"}[w.rnd.IntN(3)]
		want := w.model.Fail(c, code)
		_, got := w.Fail(ctx, c, code, "x")
		w.same("fail", got, want)
		return "fail"
	case 11:
		return w.cancel()
	case 12:
		w.pass(time.Duration(w.rnd.IntN(50)) * time.Second)
		w.model.Expire()
		_, err := w.Sweep(ctx)
		must(w.t, err)
		return "expire"
	case 13:
		for i, m := range w.macs {
			if m.DeviceID == c.DeviceID {
				w.hello(i, c, c2)
			}
		}
		return "resume"
	default:
		if w.rnd.IntN(8) == 0 {
			w.revoke()
			return "revoke"
		}
		absent := time.Duration(w.rnd.IntN(90)) * time.Second
		must(w.t, w.Seen(ctx, w.macs[0])) // the highest time the store has used is now
		w.reopen(w.t, absent)
		w.model.Restart(absent)
		return "restart"
	}
}

func (w *twin) pass(d time.Duration) {
	w.clock.Advance(d)
	w.model.Now = w.clock.Now()
}

func (w *twin) lease() string {
	i := w.mac()
	out, err := w.Lease(ctx, w.macs[i], 1<<20)
	must(w.t, err)
	if o := out.Offer; o != nil {
		must(w.t, w.model.Lease(o.JobID, w.macs[i].DeviceID, o.AttemptID, fence.HashToken(o.CommitToken)))
		w.known = append(w.known, storetest.Claim(w.macs[i], o))
	} else if out.Idle {
		w.queue()
	}
	return "lease"
}

func (w *twin) verdict(c fence.Claim) string {
	if len(w.known) == 0 {
		return "nothing to verify"
	}
	v := fence.Verdict{Verified: w.rnd.IntN(3) > 0}
	if !v.Verified {
		v.Code = fence.VerificationFailed
	}
	want := w.model.Verdict(c.AttemptID, v)
	out, err := w.FinishCommit(ctx, c.AttemptID, v, "x", nil)
	must(w.t, err)
	if want != (out.Ended != nil) {
		w.t.Fatalf("verdict on %s: the store did %+v, the model %v", c.AttemptID, out.Ended, want)
	}
	return "verdict"
}

func (w *twin) cancel() string {
	for id := range w.model.Jobs {
		if w.rnd.IntN(2) == 0 {
			want := w.model.Cancel(id)
			_, got := w.Cancel(ctx, id)
			w.same("cancel", got, want)
			break
		}
	}
	return "cancel"
}

// revoke ends a Mac and pairs another in its place.
func (w *twin) revoke() {
	i := w.mac()
	w.model.Revoke(w.macs[i].DeviceID)
	_, err := w.Revoke(ctx, w.macs[i].DeviceID)
	must(w.t, err)
	w.macs[i] = store.Session{DeviceID: storetest.MustPair(w.t, w.DB, "new").DeviceID}
	w.hello(i)
}

// compare holds every row against the model.
func (w *twin) compare() error {
	for id, j := range w.model.Jobs {
		var status fence.JobStatus
		if err := w.rows.QueryRow(`SELECT status FROM jobs WHERE id = ?`, id).Scan(&status); err != nil {
			return err
		}
		if status != j.Status {
			return fmt.Errorf("job %s is %s, in the model %s", id, status, j.Status)
		}
	}
	rows, err := w.rows.Query(`SELECT id, job_id, device_id, attempt_number, status, lease_epoch, commit_token_hash,
		coalesce(prev_epoch, 0), coalesce(prev_hash, ''), lease_expires_at, coalesce(claimed_bytes, 0), coalesce(claimed_sha256, '')
		FROM job_attempts ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var a fence.Attempt
		var expires int64
		err := rows.Scan(&a.ID, &a.JobID, &a.DeviceID, &a.Number, &a.Status, &a.Epoch, &a.TokenHash, &a.PrevEpoch, &a.PrevHash, &expires, &a.ClaimedBytes, &a.ClaimedSHA256)
		if err != nil {
			return err
		}
		a.ExpiresAt = time.UnixMilli(expires).UTC()
		if n >= len(w.model.Attempts) || a != *w.model.Attempts[n] {
			return fmt.Errorf("attempt in the store\n%+v, in the model\n%+v", a, w.model.Attempts[min(n, len(w.model.Attempts)-1)])
		}
	}
	if n != len(w.model.Attempts) {
		return fmt.Errorf("%d attempts, in the model %d", n, len(w.model.Attempts))
	}
	return rows.Err()
}

// The same random histories run against the model and against the real store;
// after every step the rows equal the model's state.
func TestModel_HistoriesOnTheRealStore(t *testing.T) {
	histories := uint64(100)
	if os.Getenv("RENDERMAC_SOAK") != "" {
		histories = 5000
	}
	for seed := range histories {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			w := newTwin(t, seed)
			for n := range 60 {
				event := w.step()
				if err := w.model.Check(); err != nil {
					t.Fatalf("step %d, after %s: %v", n, event, err)
				}
				if err := w.compare(); err != nil {
					t.Fatalf("step %d, after %s: %v", n, event, err)
				}
			}
			must(t, w.Close())
		})
	}
}
