package agent

import (
	"io"
	"net/http"
	"testing"

	"rendermac/agentproto"
)

// hang keeps requests of one method waiting until the agent gives them up.
func hang(method string) func(http.ResponseWriter, *http.Request) bool {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == method {
			io.Copy(io.Discard, r.Body) // only then is a lost connection noticed
			<-r.Context().Done()
		}
		return r.Method == method
	}
}

// cancel cancels the run once it has got as far as reached, and checks that it
// ends as the protocol says: nothing left first, then the report.
func cancel(t *testing.T, srv *fakeServer, a *testAgent, o *agentproto.LeaseOffer) {
	t.Helper()
	usual := srv.reply
	srv.change(func() {
		srv.reply = func(f *fakeSession, m agentproto.Message) bool {
			if m.Type() == "fail" && len(folders(t, a.WorkDir)) > 0 {
				t.Error("files are left when the failure is reported")
			}
			return usual != nil && usual(f, m)
		}
	})
	srv.session(1).send(&agentproto.Cancel{JobID: o.JobID, AttemptID: o.AttemptID})
	fail := next[*agentproto.Fail](srv, 0, nil)
	a.over()
	if fail.IDs != o.IDs || fail.CommitToken != o.CommitToken || fail.FailureCode != "buyer_cancelled" {
		t.Errorf("the agent reports %+v", fail)
	}
}

func TestF10_CancelWhileWaitingForASlot(t *testing.T) {
	srv := newServer(t)
	a, _, _ := slowRun(t, srv)
	o := srv.offer(srv.session(1), "att_2", mustClip(t), `{}`)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.AttemptID == "att_2" })
	srv.session(1).send(&agentproto.Cancel{JobID: o.JobID, AttemptID: o.AttemptID})
	fail := next[*agentproto.Fail](srv, 0, nil)
	if fail.AttemptID != "att_2" || fail.FailureCode != "buyer_cancelled" {
		t.Errorf("the agent reports %+v", fail)
	}
	if a.find("att_1") == nil {
		t.Error("the other run was stopped as well")
	}
}

func TestF10_CancelWhileDownloading(t *testing.T) {
	srv := newServer(t)
	srv.blob = hang(http.MethodGet)
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	srv.until("the download", func() bool { return len(srv.gets) > 0 })
	cancel(t, srv, a, o)
}

func TestF10_CancelWhileRunningLeavesNoProcess(t *testing.T) {
	srv := newServer(t)
	a, o, ffmpegs := slowRun(t, srv)
	cancel(t, srv, a, o)
	allEnd(t, ffmpegs)
}

func TestF10_CancelOfARunThatIgnoresSignalsLeavesNoProcess(t *testing.T) {
	srv := newServer(t)
	program, pids := fakeFFmpeg(t, "trap '' INT TERM"+slowScript)
	a := startAgent(t, srv, func(a *agent) { a.FFmpeg = program })
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	ffmpegs := group(t, pids)
	mark := srv.mark()
	cancel(t, srv, a, o)
	allEnd(t, ffmpegs)
	if count[*agentproto.Progress](srv, mark) == 0 {
		t.Error("no heartbeat while the run was being stopped")
	}
}

func TestF10_CancelWhileTheRealFFmpegRuns(t *testing.T) {
	srv := newServer(t)
	long, err := makeMedia("long.mp4", "-f", "lavfi", "-i", "color=s=16x16:r=25:d=3000", "-c:v", "libx264", "-preset", "ultrafast")
	if err != nil {
		t.Fatal(err)
	}
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", long, `{"width":1920,"height":1080}`)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.FPS != nil })
	cancel(t, srv, a, o)
}

func TestF10_CancelWhileUploading(t *testing.T) {
	srv := newServer(t)
	srv.blob = hang(http.MethodPut)
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Upload](srv, 0, nil)
	cancel(t, srv, a, o)
}

func TestF10_CancelWhileTheServerVerifies(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		c, ok := m.(*agentproto.Commit)
		if ok {
			f.send(&agentproto.CommitAccepted{IDs: c.IDs})
		}
		return ok
	}
	a := startAgent(t, srv)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
	cancel(t, srv, a, o)
}

func TestF10_LosingCommitEndsTheRunWithoutAReport(t *testing.T) {
	srv := newServer(t)
	srv.reply = func(f *fakeSession, m agentproto.Message) bool {
		c, ok := m.(*agentproto.Commit)
		if ok {
			f.send(&agentproto.CommitRejected{JobID: c.JobID, AttemptID: c.AttemptID, Code: "buyer_cancelled", Message: "cancelled"})
		}
		return ok
	}
	a := startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if n := count[*agentproto.Fail](srv, 0); n > 0 {
		t.Error("a rejected commit was reported as a failure")
	}
}
