package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rendermac/fence"
	"rendermac/store"

	"pgregory.net/rapid"
)

// step is one drawn event. It refers to things by small numbers, counted back
// from the newest, so that a history can be made shorter and still mean something.
type step struct {
	Event               string
	Mac, Run, Job       int
	Who, Lie, N, M, Add int
	List                []int
}

func (s step) GoString() string {
	return fmt.Sprintf("%s{mac %d, run -%d, job -%d, who %d, lie %d, n %d, m %d, add %d, list %v}", s.Event, s.Mac, s.Run, s.Job, s.Who, s.Lie, s.N, s.M, s.Add, s.List)
}

var events = map[string]func(*twin, step){
	"lease": (*twin).lease, "submit": (*twin).submit, "progress": (*twin).progress, "upload": (*twin).upload, "commit": (*twin).commit,
	"verdict": (*twin).verdict, "fail": (*twin).fail, "cancel": (*twin).cancel, "hello": (*twin).hello, "bye": (*twin).bye, "seen": (*twin).heard,
	"inputs": (*twin).inputs, "log": (*twin).log, "pass": (*twin).pass, "sweep": (*twin).sweep, "due": (*twin).due, "set": (*twin).set,
	"restart": (*twin).restart, "crash": (*twin).crash, "revoke": (*twin).revoke, "limit": (*twin).limitCredits, "drain": (*twin).drain,
}

// often weighs the events; rapid prefers the first ones. What comes next in the
// life of a run is the most frequent of all: else few would get far.
var often = []string{
	"next", "lease", "next", "progress", "upload", "fail", "next", "commit", "submit", "next", "cancel", "next", "hello", "verdict", "next", "lease",
	"fail", "next", "cancel", "commit", "pass", "next", "verdict", "submit", "hello", "next", "due", "commit", "next", "progress", "sweep", "next",
	"upload", "bye", "next", "seen", "limit", "inputs", "next", "log", "set", "next", "restart", "next", "crash", "hello", "next", "cancel", "revoke", "next", "drain",
}

// next is the event that an honest agent, or the verifier, would go on with.
func (w *twin) next(s step) string {
	if len(w.known) == 0 {
		return "lease"
	}
	run := w.model.Run(w.identity(s.Run).AttemptID)
	switch run.Status {
	case fence.AttemptLeased:
		return pick([]string{"upload", "progress"}, s.M)
	case fence.AttemptDownloading, fence.AttemptRunning:
		return pick([]string{"upload", "upload", "progress"}, s.M)
	case fence.AttemptUploading:
		return "commit"
	case fence.AttemptCommitting:
		if w.model.Job(run.JobID).Status == fence.JobCancelling {
			return pick([]string{"fail", "commit", "progress", "verdict"}, s.M)
		}
		return pick([]string{"verdict", "verdict", "cancel", "verdict", "commit"}, s.M)
	}
	return pick([]string{"lease", "submit"}, s.M)
}

var drawStep = rapid.Custom(func(t *rapid.T) step {
	s := step{
		Event: rapid.SampledFrom(often).Draw(t, "event"), Mac: rapid.IntRange(0, 2).Draw(t, "mac"), Run: rapid.IntRange(0, 30).Draw(t, "run"),
		Job: rapid.IntRange(0, 9).Draw(t, "job"), Who: rapid.IntRange(0, 15).Draw(t, "who"), Lie: rapid.IntRange(0, 63).Draw(t, "lie"),
		N: rapid.IntRange(0, 7).Draw(t, "n"), M: rapid.IntRange(0, 7).Draw(t, "m"), Add: rapid.IntRange(0, 7).Draw(t, "add"),
	}
	if s.Event == "hello" || s.Event == "bye" {
		s.List = rapid.SliceOfN(rapid.IntRange(0, 30), 0, 4).Draw(t, "list")
	}
	return s
})

func pick[T any](list []T, n int) T { return list[n%len(list)] }

func (w *twin) jobID(back int) string {
	if len(w.model.Jobs) == 0 {
		return "job_0"
	}
	return w.model.Jobs[len(w.model.Jobs)-1-back%len(w.model.Jobs)].ID
}

func (w *twin) submit(s step) {
	a := ask{credits: pick([]int64{0, 3, 7}, s.M), webhook: pick([][]string{
		{"job.succeeded", "job.failed", "job.cancelled"}, nil, {"job.started", "job.failed"}, {"job.succeeded", "job.failed", "job.cancelled"},
	}, s.Who)}
	m := fence.ModelJob{Priority: pick([]int{0, 0, 0, 5, -100}, s.N), Job: fence.Job{MaxAttempts: 1 + s.Run%3}}
	if s.Add > 4 {
		m.Deadline = w.clock.Now().Add(pick([]time.Duration{20 * time.Second, time.Minute, 3 * time.Minute}, s.Add))
	}
	for n := range max(0, s.Lie-55) / 3 { // up to two jobs whose outputs it needs
		m.Inputs = append(m.Inputs, w.jobID(s.Job+n))
	}
	j := store.NewJob{
		AccountID: w.home.account, Service: "ffmpeg.transcode", Resolved: []byte(`{}`), Needs: fence.Needs{Service: "ffmpeg.transcode"},
		MaxAttempts: m.MaxAttempts, Priority: m.Priority, Deadline: m.Deadline, Credits: a.credits, OutputExt: "mp4", ContentType: "video/mp4",
	}
	if j.Inputs = []store.NewInput{{UploadID: w.home.upload}}; a.webhook != nil {
		j.WebhookURL, j.WebhookEvents = "https://example.test/hook", a.webhook
	}
	for _, id := range m.Inputs {
		j.Inputs = append(j.Inputs, store.NewInput{JobID: id})
	}
	ids, err := w.Submit(ctx, j)
	if fence.CodeOf(err) == store.CodeCreditExceeded {
		w.equal("credits are short", w.short(a.credits), true)
		w.model.Batch()
		w.seen.add("credits short")
		return
	}
	if err == nil {
		m.ID = ids[0]
		w.asked[m.ID] = a
		w.equal("credits are short", w.short(a.credits), false)
	}
	w.same("submit", err, w.model.Submit(m))
	w.note("submit", fence.Claim{JobID: m.ID}, err, "")
}

// short says whether a job of this price passes the account's limit.
func (w *twin) short(credits int64) bool {
	return credits > 0 && w.limit != nil && w.used+credits > *w.limit
}

// limitCredits sets the account's limit, also below what is used, or removes it.
func (w *twin) limitCredits(s step) {
	w.limit = pick([]*int64{nil, new(int64(10)), new(int64(20)), new(w.used), new(w.used + 5), new(int64(0)), nil, nil}, s.N)
	_, err := w.ChangeAccount(ctx, w.home.account, store.AccountChange{CreditLimit: &w.limit})
	w.must(err)
	w.model.Batch()
}

// lease is a pull. Its answer may be lost: then no agent knows the secret.
func (w *twin) lease(s step) {
	m := w.mac(s.Mac)
	session := store.Session{DeviceID: m.id, SessionID: m.session(s.Who)}
	out, err := w.Lease(ctx, session, 1<<20)
	w.must(err)
	want := w.model.Pull(m.id, session.SessionID)
	if w.model.Device(m.id).Draining {
		w.seen.add("pull while draining")
	}
	o := out.Offer
	if o == nil {
		w.equal("pull", fence.ModelPull{RetryAt: out.RetryAt, Idle: out.Idle}, want)
		return
	}
	w.equal("pull", fence.ModelPull{Job: o.JobID}, want)
	w.model.Lease(o.JobID, m.id, o.AttemptID, fence.HashToken(o.CommitToken))
	run := w.model.Run(o.AttemptID)
	w.equal("offer", fmt.Sprint(o.AttemptNumber, o.Epoch, o.ExpiresAt), fmt.Sprint(run.Number, run.Epoch, run.ExpiresAt))
	if s.N == 7 {
		w.seen.add("lease_offer lost")
		return
	}
	w.known = append(w.known, fence.Claim{DeviceID: m.id, JobID: o.JobID, AttemptID: o.AttemptID, Epoch: o.Epoch, Token: o.CommitToken})
}

var phases = []fence.AttemptStatus{fence.AttemptDownloading, fence.AttemptRunning, fence.AttemptUploading, "dancing"}

func (w *twin) progress(s step) {
	c := w.claim(s)
	at, behind := w.where(c), pick(phases, s.N)
	out, err := w.Progress(ctx, c, store.Report{Phase: behind})
	step, want := w.model.Progress(c, behind)
	w.same("progress", err, want)
	w.answer(c, out, err, step)
	w.seen.outcome("progress", at, err, map[bool]string{true: "cancel"}[step.Cancel])
}

// answer holds what a message that held the lease is told against the model.
func (w *twin) answer(c fence.Claim, out store.RunOutcome, err error, step fence.Step) {
	w.t.Helper()
	w.entitled(c, err, false)
	if err != nil {
		return
	}
	w.equal("cancel", out.Cancel, step.Cancel)
	w.equal("expiry", out.ExpiresAt, w.model.Run(c.AttemptID).ExpiresAt)
}

func (w *twin) upload(s step) {
	c := w.claim(s)
	at, r := w.where(c), result
	r.Bytes += int64(s.M / 7)
	g, err := w.Upload(ctx, c, r, []store.Part{{Number: 1, Bytes: r.Bytes, SHA256: r.SHA256}})
	step, want := w.model.Upload(c)
	w.same("upload", err, want)
	w.answer(c, g.RunOutcome, err, step)
	if err == nil && !step.Cancel {
		w.grants[c.AttemptID] = r
	}
	open, err2 := w.OpenGrant(ctx, c.AttemptID, "outputs/"+c.JobID+"/"+c.AttemptID+".mp4")
	w.must(err2)
	if run := w.model.Run(c.AttemptID); run != nil && run.JobID == c.JobID {
		w.equal("open grant", open, w.model.Open(c.AttemptID))
	}
	w.seen.outcome("upload", at, err, map[bool]string{true: "cancel"}[step.Cancel])
}

func (w *twin) inputs(s step) {
	c := w.claim(s)
	at := w.where(c)
	out, _, err := w.Inputs(ctx, c)
	step, want := w.model.Inputs(c)
	w.same("inputs", err, want)
	w.entitled(c, err, false)
	w.equal("cancel", out.Cancel, step.Cancel)
	w.seen.outcome("inputs", at, err, "")
}

func (w *twin) log(s step) {
	c := w.claim(s)
	line := fmt.Sprintln("frame", s.N)
	err := w.AppendLog(ctx, c, line)
	w.same("log", err, w.model.Log(c))
	w.entitled(c, err, false)
	if err == nil {
		w.logs[c.AttemptID] += line
	}
}

func (w *twin) commit(s step) {
	c := w.claim(s)
	at, r := w.where(c), result
	r.Bytes += int64(s.M / 7)
	out, err := w.Commit(ctx, c, r, nil)
	step, want := w.model.Commit(c, r)
	w.same("commit", err, want)
	w.equal("commit", out.Step, step)
	w.entitled(c, err, true)
	if run := w.model.Run(c.AttemptID); err != nil && run != nil && c.Epoch < run.Epoch && run.Status.Live() {
		w.seen.add("commit under a stale epoch refused")
	}
	w.seen.outcome("commit", at, err, map[fence.CommitStep]string{fence.CommitAgain: "again", fence.CommitCancelled: "cancelled"}[step])
}

// entitled holds what passed against who spoke, without asking the checks that
// the store and the model share: the newest session of a device that is not
// revoked, under the newest epoch, with the newest secret where one is shown (F4).
func (w *twin) entitled(c fence.Claim, err error, secret bool) {
	w.t.Helper()
	if err != nil {
		return
	}
	r, d := w.model.Run(c.AttemptID), w.model.Device(c.DeviceID)
	if d.Revoked || d.SessionID != c.SessionID || r.DeviceID != d.ID || r.JobID != c.JobID || r.Epoch != c.Epoch || secret && r.TokenHash != fence.HashToken(c.Token) {
		w.t.Fatalf("%+v passed, and the run is %+v of %+v", c, *r, *d)
	}
	late := !w.clockSet && !w.model.Now.Before(w.before.ExpiresAt) && w.before.Status != fence.AttemptCommitting
	if b := w.before; b.ID != c.AttemptID || !b.Status.Live() || late {
		w.t.Fatalf("%+v passed at %v, and the run was %+v", c, w.model.Now, b)
	}
}

func (w *twin) fail(s step) {
	c := w.claim(s)
	at := w.where(c)
	code := pick([]string{
		fence.DownloadFailed, fence.RunnerFailed, fence.UploadFailed, fence.NoCapacity, fence.InternalError, fence.BuyerCancelled, "gremlins", fence.LeaseExpired,
		fence.ProviderOffline, fence.VerificationFailed, fence.InputFailed, "",
	}, s.M+8*(s.Add/7))
	ended, err := w.Fail(ctx, c, code, "x")
	w.same("fail", err, w.model.Fail(c, code))
	w.entitled(c, err, true)
	outcome := ""
	if err == nil {
		run := w.model.Run(c.AttemptID)
		w.equal("ended", fmt.Sprint(ended.Attempt, ended.Job, ended.Code), fmt.Sprint(run.Status, w.model.Job(c.JobID).Status, run.Code))
		if outcome = string(ended.Job); ended.Job == fence.JobFailed && fence.Retryable(code) {
			w.seen.add("budget spent")
		}
	}
	w.seen.outcome("fail", at, err, outcome)
}

// verdict finishes what passed F6, or speaks of any run at all.
func (w *twin) verdict(s step) {
	var run *fence.ModelRun
	for i, r := range w.model.Runs {
		if run == nil || r.Status == fence.AttemptCommitting || s.N > 5 && i == s.Run {
			run = r
		}
	}
	if run == nil {
		return
	}
	at := w.where(fence.Claim{JobID: run.JobID, AttemptID: run.ID})
	v := pick([]fence.Verdict{{Verified: true}, {Verified: true}, {Code: fence.VerificationFailed}, {Code: fence.InternalError}}, s.M)
	out, err := w.FinishCommit(ctx, run.ID, v, "x", nil)
	w.must(err)
	done := w.model.Verdict(run.ID, v)
	w.equal("verdict", out.Ended != nil, done)
	if done {
		w.equal("ended", fmt.Sprint(out.Ended.Attempt, out.Ended.Job), fmt.Sprint(run.Status, w.model.Job(run.JobID).Status))
	}
	w.seen.outcome("verdict", at, nil, map[bool]string{true: string(run.Status)}[done])
}

func (w *twin) cancel(s step) {
	id := w.jobID(s.Job)
	if s.Job < 5 && len(w.known) > 0 {
		id = w.identity(s.Run).JobID
	}
	at := w.where(fence.Claim{JobID: id})
	out, err := w.Cancel(ctx, id)
	w.same("cancel", err, w.model.Cancel(id))
	if err == nil {
		w.equal("cancel", out.Status, w.model.Job(id).Status)
	}
	w.seen.outcome("cancel", at, err, "")
}

// hello is a new session of a Mac, by any agent that runs with its pairing. Its
// answer may be lost after COMMIT: then the agents go on with what they knew.
func (w *twin) hello(s step) {
	m := w.mac(s.Mac)
	var list []fence.Claim
	if s.N < 7 {
		list = w.newest(m.id)
	}
	if s.N > 4 && len(w.known) > 0 {
		for _, back := range s.List {
			list = append(list, w.lie(w.known[len(w.known)-1-back%len(w.known)], s))
		}
	}
	w.greet(m, list, s.M > 5)
}

func (w *twin) greet(m *mac, list []fence.Claim, lost bool) {
	w.noteListed(list)
	out, err := w.Hello(ctx, store.Hello{DeviceID: m.id, Slots: 9, Services: []string{"ffmpeg.transcode"}, Facts: []byte(`{}`), Resume: list})
	w.must(err)
	var hashes []string
	for _, r := range out.Resumptions {
		if r.Resumed {
			hashes = append(hashes, fence.HashToken(r.CommitToken))
		}
	}
	answers, _ := w.model.Hello(m.id, out.SessionID, list, hashes)
	for i, r := range out.Resumptions {
		got := fence.ModelAnswer{Resumed: r.Resumed}
		if r.Status != nil {
			got.Status = *r.Status
		}
		w.equal(fmt.Sprint("resume of entry ", i), got, answers[i])
	}
	if lost {
		w.seen.add("hello_ok lost")
		return
	}
	m.sessions = append(m.sessions, out.SessionID)
	for _, r := range out.Resumptions {
		if r.Resumed {
			w.known = append(w.known, fence.Claim{DeviceID: m.id, JobID: r.JobID, AttemptID: r.AttemptID, Epoch: r.Epoch, Token: r.CommitToken})
		}
	}
}

func (w *twin) bye(s step) {
	m := w.mac(s.Mac)
	var keep []fence.Claim
	var ids []string
	for _, back := range s.List {
		if len(w.known) > 0 {
			keep = append(keep, w.identity(back))
			ids = append(ids, w.identity(back).AttemptID)
		}
	}
	w.noteLive("bye", m.id)
	_, err := w.Bye(ctx, store.Session{DeviceID: m.id, SessionID: m.session(s.Who)}, keep)
	w.must(err)
	if newest := w.model.Device(m.id).SessionID; newest != "" && newest != m.session(s.Who) {
		w.seen.add("late bye")
	}
	w.model.Bye(m.id, m.session(s.Who), ids)
}

func (w *twin) heard(s step) {
	m := w.mac(s.Mac)
	_, err := w.Seen(ctx, store.Session{DeviceID: m.id, SessionID: m.session(s.Who)})
	w.must(err)
	w.model.Seen(m.id, m.session(s.Who))
}

// pass lets time go by without a sweep: what has expired has, even so (F4).
func (w *twin) pass(s step) {
	w.advance(pick([]time.Duration{time.Second, 5 * time.Second, 20 * time.Second, 45 * time.Second, time.Minute, 95 * time.Second, 4 * time.Second, 7 * time.Minute}, s.N))
}

func (w *twin) advance(d time.Duration) {
	w.clock.Advance(d)
	w.model.Now = w.model.Now.Add(d)
}

func (w *twin) sweep(s step) {
	out, err := w.Sweep(ctx)
	w.must(err)
	w.nextAt = w.model.Expire()
	w.equal("next deadline", out.Next, w.nextAt)
}

// due sweeps at exactly the next known deadline, or a moment before it.
func (w *twin) due(s step) {
	if wait := w.nextAt.Sub(w.clock.Now()); wait > 0 && s.N < 6 {
		w.advance(wait - time.Duration(s.N/5)*time.Millisecond)
	}
	w.sweep(s)
}

// set moves the wall clock under the running server (F15).
// writes are the events that always have a batch of the writer, which moves the
// leases with a clock that was set (F15).
var writes = map[string]bool{
	"limit": true, "submit": true, "lease": true, "progress": true, "upload": true, "inputs": true, "commit": true, "fail": true, "sweep": true, "restart": true, "crash": true, "drain": true,
}

func (w *twin) set(s step) {
	by := pick([]time.Duration{40 * time.Second, -40 * time.Second, 3 * time.Second, -3 * time.Second, 2 * time.Second, 3 * time.Hour, -3 * time.Hour, -2 * time.Second}, s.N)
	w.clock.Jump(by)
	w.model.Set(by)
	w.noteLive(map[bool]string{true: "clock set back", false: "clock set forward"}[by < 0], "")
}

var absences = []time.Duration{0, 10 * time.Second, 50 * time.Second, 90 * time.Second, 10 * time.Minute, -30 * time.Second, -time.Hour, time.Minute}

// restart ends the server in order and starts it again.
func (w *twin) restart(s step) {
	w.noteLive("restart", "")
	w.absent(pick(absences, s.N))
}

func (w *twin) absent(d time.Duration) {
	w.rows.close()
	w.must(w.Close())
	w.clock.Jump(d)
	w.model.Restart(d)
	w.open()
}

// crash starts another server from the files as they are this moment.
func (w *twin) crash(s step) {
	w.noteLive("crash", "")
	from := filepath.Dir(w.options.Path)
	w.crashes++
	w.options.Path = filepath.Join(from, fmt.Sprint("after-", w.crashes), "rendermac.db")
	w.copy(from)
	w.absent(pick(absences, s.N))
}

// drain keeps a Mac from new runs, or lets it have them again.
func (w *twin) drain(s step) {
	m, drained := w.mac(s.Mac), s.N > 3
	w.noteLive("drain", m.id)
	_, err := w.Configure(ctx, m.id, store.DeviceChange{Draining: &drained})
	w.must(err)
	w.model.Drain(m.id, drained)
}

// revoke ends a Mac and pairs another in its place; what the old one knew stays
// in the world.
func (w *twin) revoke(s step) {
	m := w.mac(s.Mac)
	w.noteLive("revoke", m.id)
	if s.N == 7 {
		w.tornRevoke(s, m)
		return
	}
	_, err := w.Revoke(ctx, m.id)
	w.must(err)
	w.model.Revoke(m.id)
	_, err = w.Hello(ctx, store.Hello{DeviceID: m.id, Facts: []byte(`{}`)})
	w.equal("hello of a revoked Mac", fence.CodeOf(err), store.CodeRevoked)
	w.pair(m)
}

func (w *twin) pair(old *mac) {
	p, err := w.CreatePairing(ctx, "")
	w.must(err)
	d, err := w.Pair(ctx, p.Code, "new", []byte(`{}`))
	w.must(err)
	w.model.Pair(d.DeviceID)
	for i, m := range w.macs {
		if m == old {
			w.macs[i] = &mac{id: d.DeviceID}
			w.greet(w.macs[i], nil, false)
		}
	}
}

// tornRevoke crashes between the two halves of a revocation: the file has it, the
// database does not yet (F18).
func (w *twin) tornRevoke(s step, m *mac) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(w.options.Path), "revoked"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	w.must(err)
	_, err = fmt.Fprintf(f, "\n%s\n", m.id)
	w.must(err)
	w.must(f.Close())
	w.crash(s)
	w.model.Revoke(m.id)
	w.pair(m)
}
