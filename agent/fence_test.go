package agent

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rendermac/agentproto"
)

// slowRun is an agent whose ffmpeg never ends, with one run in it.
func slowRun(t *testing.T, srv *fakeServer, adjust ...func(*agent)) (a *testAgent, o *agentproto.LeaseOffer, ffmpegs int) {
	t.Helper()
	program, pids := fakeFFmpeg(t, slowScript)
	a = startAgent(t, srv, append(adjust, func(a *agent) { a.FFmpeg = program })...)
	o = srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	return a, o, group(t, pids)
}

func TestF17_LeaseEndStopsTheRunAndLeavesNoChild(t *testing.T) {
	srv := newServer(t)
	clock := new(testClock)
	srv.reply = func(_ *fakeSession, m agentproto.Message) bool { return m.Type() == "progress" } // no answer: no renewal
	a, _, ffmpegs := slowRun(t, srv, func(a *agent) { a.now = clock.now })
	clock.advance(minute)
	a.over()
	allEnd(t, ffmpegs)
	if n := count[*agentproto.Fail](srv, 0); n > 0 {
		t.Error("a run that is not ours any more reported a failure")
	}
	next(srv, srv.mark()-1, func(r *agentproto.Ready) bool { return r.SlotsFree == 1 })
}

func TestF17_RenewedLeaseKeepsTheRun(t *testing.T) {
	srv := newServer(t)
	clock := new(testClock)
	a, o, _ := slowRun(t, srv, func(a *agent) { a.now = clock.now })
	for range 12 { // two leases, in steps that do not look like a dead connection
		clock.advance(10 * time.Second)
		mark := srv.mark()
		next[*agentproto.Progress](srv, mark, nil)
		next[*agentproto.Progress](srv, srv.mark(), nil) // the one before is answered by now
	}
	if a.find(o.AttemptID) == nil {
		t.Error("the run was stopped although its lease was renewed")
	}
}

func TestF4_LeaseConflictStopsTheRunAndLeavesNoChild(t *testing.T) {
	srv := newServer(t)
	a, o, ffmpegs := slowRun(t, srv)
	srv.session(1).send(&agentproto.LeaseConflict{IDs: agentproto.IDs{JobID: o.JobID, AttemptID: o.AttemptID, LeaseEpoch: 9}})
	srv.session(1).send(&agentproto.LeaseConflict{IDs: o.IDs})
	a.over()
	allEnd(t, ffmpegs)
}

func TestF14_RevokedRunStopsAndLeavesNoChild(t *testing.T) {
	srv := newServer(t)
	a, o, ffmpegs := slowRun(t, srv)
	srv.session(1).conn.CloseNow()
	hello := srv.session(2).hello // the usual server revokes what is listed
	if len(hello.Resume) != 1 || hello.Resume[0].IDs != o.IDs || hello.Resume[0].CommitToken != o.CommitToken {
		t.Errorf("resume lists %+v", hello.Resume)
	}
	a.over()
	allEnd(t, ffmpegs)
}

func TestF14_WithResumeOffAReconnectStopsTheRun(t *testing.T) {
	srv := newServer(t)
	srv.terms.Resume = false
	srv.reply = func(_ *fakeSession, m agentproto.Message) bool { return m.Type() == "hello" }
	a, _, _ := slowRun(t, srv)
	srv.session(1).conn.CloseNow()
	srv.session(2)
	a.over()
}

// resume answers a hello's listing with a new epoch and token.
func resume(f *fakeSession, m agentproto.Message) bool {
	hello, ok := m.(*agentproto.Hello)
	if !ok {
		return false
	}
	for _, entry := range hello.Resume {
		ids := entry.IDs
		ids.LeaseEpoch++
		f.send(&agentproto.LeaseResumed{IDs: ids, CommitToken: "resumed-" + entry.CommitToken, LeaseTTL: f.srv.terms.LeaseTTL})
	}
	return true
}

func TestF14_ResumedRunCommitsUnderTheNewEpoch(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	var cut atomic.Bool
	srv.blob = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut && cut.CompareAndSwap(false, true) {
			srv.session(1).conn.CloseNow() // in the middle of the upload
			srv.session(2)
		}
		return false
	}
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if commit.LeaseEpoch != 2 || commit.CommitToken != "resumed-"+o.CommitToken {
		t.Errorf("commit under epoch %d with %q", commit.LeaseEpoch, commit.CommitToken)
	}
	if n := count[*agentproto.Commit](srv, 0); n != 1 {
		t.Errorf("%d commits", n)
	}
}

func TestF14_FailureIsReportedUnderTheNewEpoch(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		if fail, ok := m.(*agentproto.Fail); ok && fail.LeaseEpoch == 1 {
			f.conn.CloseNow() // before it is answered
			return true
		}
		return resume(f, m)
	}
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", []byte("no film"), `{}`)
	again := next(srv, 0, func(m *agentproto.Fail) bool { return m.LeaseEpoch == 2 })
	if again.CommitToken != "resumed-"+o.CommitToken || again.FailureCode != "runner_failed" {
		t.Errorf("the agent reports %+v", again)
	}
	a.over()
}

func TestF14_NothingIsSentOfARunBeforeItIsResumed(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(_ *fakeSession, m agentproto.Message) bool { return m.Type() == "hello" } // no answer to resume yet
	a, o, _ := slowRun(t, srv)
	srv.session(1).conn.CloseNow()
	second := srv.session(2)
	srv.until("a ready of the second session", func() bool {
		last := srv.heard[len(srv.heard)-1]
		return last.on == second && last.m.Type() == "ready"
	})
	mark := srv.mark()
	time.Sleep(2 * a.heartbeat()) // what must not come has no signal
	if srv.mark() != mark {
		t.Errorf("something came before the server resumed the run: %s", srv.transcript())
	}
	resume(second, second.hello)
	if p := next[*agentproto.Progress](srv, mark, nil); p.LeaseEpoch != o.LeaseEpoch+1 {
		t.Errorf("progress under epoch %d", p.LeaseEpoch)
	}
}

func TestF17_502MeansKeepWorking(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	var dials, gets, puts atomic.Int32
	srv.dial = func(w http.ResponseWriter, _ *http.Request) bool {
		bad := dials.Add(1)
		if bad == 2 || bad == 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
		return bad == 2 || bad == 3
	}
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool {
		n := &gets
		if r.Method == http.MethodPut {
			n = &puts
		}
		if n.Add(1) > 2 {
			return false
		}
		w.WriteHeader(http.StatusBadGateway)
		return true
	}
	a := startAgent(t, srv)
	first := srv.session(1)
	srv.offer(first, "att_1", mustClip(t), `{"preset":"web-480p"}`)
	first.conn.CloseNow()
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if commit.LeaseEpoch != 2 {
		t.Errorf("commit under epoch %d", commit.LeaseEpoch)
	}
}

// agentProc is an agent in a process of its own.
func agentProc(t *testing.T, srv *fakeServer, dir, ffmpeg string, more ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "RENDERMAC_TEST_AGENT=1", "TEST_URL="+srv.URL, "TEST_FFMPEG="+ffmpeg, "TEST_SLOTS=1",
		"TEST_DATA="+filepath.Join(dir, "data"), "TEST_WORK="+filepath.Join(dir, "work"))
	cmd.Env = append(cmd.Env, more...)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill9(cmd) })
	return cmd
}

func kill9(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		cmd.Process.Kill()
		cmd.Wait()
	}
}

func TestF17_NoChildOutlivesAKilledAgent(t *testing.T) {
	srv := newServer(t)
	dir := t.TempDir()
	ffmpeg, pids := fakeFFmpeg(t, slowScript)
	cmd := agentProc(t, srv, dir, ffmpeg)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	ffmpegs := group(t, pids)
	kill9(cmd)
	allEnd(t, ffmpegs) // the guard kills them

	agentProc(t, srv, dir, ffmpeg) // and the next start clears what is left
	if hello := srv.session(2).hello; len(hello.Resume) != 0 {
		t.Errorf("an unfinished run is offered again: %+v", hello.Resume)
	}
	if left := folders(t, filepath.Join(dir, "work")); len(left) > 0 {
		t.Errorf("leftovers: %v", left)
	}
}

// killedWithResult kills an agent whose result is finished but not committed,
// and starts another one on the same data.
func killedWithResult(t *testing.T, srv *fakeServer) (o *agentproto.LeaseOffer, second *fakeSession, work string) {
	t.Helper()
	dir := t.TempDir()
	cmd := agentProc(t, srv, dir, "ffmpeg")
	o = srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	next[*agentproto.Commit](srv, 0, nil)
	kill9(cmd)
	work = filepath.Join(dir, "work")
	if left := folders(t, work); len(left) != 1 {
		t.Fatalf("the result is gone: %v", left)
	}
	startAgentIn(t, srv, dir)
	second = srv.session(2)
	if len(second.hello.Resume) != 1 || second.hello.Resume[0].IDs != o.IDs || second.hello.Resume[0].CommitToken != o.CommitToken {
		t.Fatalf("resume lists %+v", second.hello.Resume)
	}
	return o, second, work
}

func gone(t *testing.T, work string) {
	t.Helper()
	waitFor(t, "the kept result to be cleared", func() bool { return len(folders(t, work)) == 0 })
}

func TestF17_FinishedResultIsOfferedAgainAfterKill(t *testing.T) {
	srv := newServer(t)
	var again atomic.Bool
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		return resume(f, m) || m.Type() == "commit" && !again.Load()
	}
	o, _, work := killedWithResult(t, srv)
	again.Store(true)
	srv.mu.Lock()
	delete(srv.held["att_1"], 2) // the server has lost a part meanwhile
	srv.mu.Unlock()
	commit := next(srv, 0, func(m *agentproto.Commit) bool { return m.LeaseEpoch == 2 })
	gone(t, work)
	if commit.CommitToken != "resumed-"+o.CommitToken {
		t.Errorf("commit with %q", commit.CommitToken)
	}
	if digest(srv.uploaded("att_1")) != commit.SHA256 {
		t.Error("the part that was lost has not been uploaded again")
	}
}

func TestF17_RunDoesNotGoOnWithoutItsGuard(t *testing.T) {
	srv := newServer(t)
	a, _, ffmpegs := slowRun(t, srv)
	if err := unix.Kill(ffmpegs, unix.SIGKILL); err != nil { // the guard leads the group
		t.Fatal(err)
	}
	failsWith(t, srv, a, "internal_error")
	allEnd(t, ffmpegs)
}

func TestF14_KeptIdentityIsTheNewestOne(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool { return resume(f, m) || m.Type() == "commit" }
	dir := t.TempDir()
	for epoch := int64(1); epoch <= 3; epoch++ {
		cmd := agentProc(t, srv, dir, "ffmpeg")
		s := srv.session(int(epoch))
		if epoch == 1 {
			srv.offer(s, "att_1", mustClip(t), `{}`)
		}
		next(srv, 0, func(m *agentproto.Commit) bool { return m.LeaseEpoch == epoch })
		kill9(cmd)
	}
	agentProc(t, srv, dir, "ffmpeg")
	if last := srv.session(4).hello.Resume; len(last) != 1 || last[0].LeaseEpoch != 3 || last[0].CommitToken != "resumed-resumed-token-1-att_1" {
		t.Errorf("resume lists %+v", last)
	}
}

// revoke answers a hello's listing with lease_revoked of that status.
func revoke(status string) func(*fakeSession, agentproto.Message) bool {
	return func(f *fakeSession, m agentproto.Message) bool {
		if hello, ok := m.(*agentproto.Hello); ok {
			for _, entry := range hello.Resume {
				f.send(&agentproto.LeaseRevoked{JobID: entry.JobID, AttemptID: entry.AttemptID, Status: &status})
			}
			return true
		}
		return m.Type() == "commit"
	}
}

func TestF17_CommittedResultWaitsForItsFinalAnswerAfterKill(t *testing.T) {
	srv := newServer(t)
	srv.reply = revoke("committing")
	o, second, work := killedWithResult(t, srv)
	next(srv, 0, func(r *agentproto.Ready) bool { return r.SlotsFree == 1 })
	if left := folders(t, work); len(left) != 1 {
		t.Fatal("the result was not kept until the final answer")
	}
	second.send(&agentproto.CommitRejected{JobID: o.JobID, AttemptID: o.AttemptID, Code: "verification_failed", Message: "no"})
	gone(t, work)
	if n := count[*agentproto.Upload](srv, 0); n != 1 {
		t.Errorf("%d uploads: a committed result was uploaded again", n)
	}
}

func TestF17_SucceededResultIsForgottenAfterKill(t *testing.T) {
	srv := newServer(t)
	srv.reply = revoke("succeeded")
	_, _, work := killedWithResult(t, srv)
	gone(t, work)
}

func TestF17_LostResultIsForgottenAfterKill(t *testing.T) {
	srv := newServer(t)
	srv.reply = revoke("lost")
	_, _, work := killedWithResult(t, srv)
	gone(t, work)
}

func TestF17_CommitWhoseAnswerWasLostOutlastsItsLease(t *testing.T) {
	srv := newServer(t)
	clock := new(testClock)
	srv.reply = revoke("committing") // and no answer to the commit
	a := startAgent(t, srv, func(a *agent) { a.now = clock.now })
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	next[*agentproto.Commit](srv, 0, nil)
	clock.advance(time.Hour)
	srv.session(1).conn.CloseNow()
	second := srv.session(2)
	if len(second.hello.Resume) != 1 {
		t.Fatal("the result was dropped before its final answer")
	}
	second.send(&agentproto.CommitOK{JobID: o.JobID, AttemptID: o.AttemptID})
	a.over()
}

func TestF11_CommittedRunHoldsNoSlotOfALaterSession(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		if c, ok := m.(*agentproto.Commit); ok {
			f.send(&agentproto.CommitAccepted{IDs: c.IDs})
		}
		return revoke("committing")(f, m)
	}
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	next[*agentproto.Commit](srv, 0, nil)
	next[*agentproto.Ready](srv, 0, func(r *agentproto.Ready) bool { return r.SlotsFree == 0 })
	mark := srv.mark()
	srv.session(1).conn.CloseNow()
	next(srv, mark, func(r *agentproto.Ready) bool { return r.SlotsFree == 1 })
}
