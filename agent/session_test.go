package agent

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
)

func TestHelloSaysWhatTheAgentIsAndReadyFollows(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	first := srv.session(1)
	if first.conn.Subprotocol() != "rendermac.v1" {
		t.Errorf("subprotocol %q", first.conn.Subprotocol())
	}
	hello := first.hello
	if hello.Protocol != 1 || hello.Slots != 1 || len(hello.Services) == 0 || hello.Device.FreeDiskBytes == 0 || hello.Resume == nil {
		t.Errorf("hello is %+v", hello)
	}
	if ready := next[*agentproto.Ready](srv, 0, nil); ready.SlotsFree != 1 {
		t.Errorf("%d slots are ready", ready.SlotsFree)
	}
}

func TestEndsThatTheAgentMustNotRetryStopItAndSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		code websocket.StatusCode
		says string
	}{
		{4001, "another agent runs with this machine's pairing"},
		{4002, "update rendermac"},
		{4003, "was revoked"},
	} {
		t.Run(strconv.Itoa(int(c.code)), func(t *testing.T) {
			srv := newServer(t)
			a := startAgent(t, srv)
			srv.session(1).conn.Close(c.code, "")
			var stop *StopError
			if err := a.wait(); !errors.As(err, &stop) || !strings.Contains(stop.Message, c.says) {
				t.Errorf("the agent ends with %v", err)
			}
		})
	}
}

// A hello whose socket broke may be stored after the one that followed it, and
// replace it: one such 4001 is no other agent's (F14).
func TestF14_AnAgentIsNotStoppedByItsOwnOlderHello(t *testing.T) {
	srv := newServer(t)
	tries := 0
	srv.dial = func(w http.ResponseWriter, r *http.Request) bool {
		if tries++; tries > 1 {
			return false
		}
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{agentproto.Subprotocol}})
		if err == nil {
			_, _, _ = conn.Read(context.Background()) // the hello, which nobody answers
			conn.CloseNow()
		}
		return true
	}
	a := startAgent(t, srv)
	srv.session(1).conn.Close(agentproto.CloseReplaced, "")
	srv.session(2).conn.Close(agentproto.CloseReplaced, "")
	var stop *StopError
	if err := a.wait(); !errors.As(err, &stop) || !strings.Contains(stop.Message, "another agent runs") {
		t.Errorf("the second time the agent ends with %v", err)
	}
}

func TestUnknownTokenStopsTheAgent(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv, func(a *agent) { a.Token = "rmd_other" })
	var stop *StopError
	if err := a.wait(); !errors.As(err, &stop) || !strings.Contains(stop.Message, "pair this machine again") {
		t.Errorf("the agent ends with %v", err)
	}
}

func TestEndsThatMeanReconnect(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	codes := []websocket.StatusCode{1001, 1008, 1009, 1011}
	for i, code := range codes {
		srv.session(i+1).conn.Close(code, "")
	}
	srv.session(len(codes) + 1)
}

func TestWhatTheAgentDoesNotUnderstandIsIgnored(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	first := srv.session(1)
	for _, frame := range []string{`{"type":"from_the_future"}`, `no JSON`, `{"type":"cancel","attempt_id":"att_9"}`, `{"type":"lease_resumed","attempt_id":"att_9"}`} {
		if err := first.conn.Write(context.Background(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
	}
	srv.offer(first, "att_1", mustClip(t), `{}`)
	next[*agentproto.Commit](srv, 0, nil)
}

func TestFrameOverTheLimitEndsTheSession(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	srv.session(1).send(&agentproto.Error{Code: "x", Message: strings.Repeat("x", agentproto.MaxFrame)})
	srv.session(2)
	if code := websocket.CloseStatus(srv.session(1).err); code != websocket.StatusMessageTooBig {
		t.Errorf("closed with %d", code)
	}
}

func TestQuietSessionIsReplaced(t *testing.T) {
	srv := newServer(t)
	clock := new(testClock)
	startAgent(t, srv, func(a *agent) { a.now = clock.now })
	next[*agentproto.Ready](srv, 0, nil)
	clock.advance(minute) // as a machine does that sleeps
	srv.session(2)
}

func TestPingsKeepAQuietSession(t *testing.T) {
	srv := newServer(t)
	clock := new(testClock)
	startAgent(t, srv, func(a *agent) { a.now = clock.now })
	first := srv.session(1)
	next[*agentproto.Ready](srv, 0, nil)
	for range 4 {
		clock.advance(quietTime - time.Second)
		if err := first.conn.Ping(context.Background()); err != nil {
			t.Fatalf("the session ended although it was pinged: %v", err)
		}
	}
}

func TestBackoffHasFullJitterUpToHalfAMinute(t *testing.T) {
	const first = 500 * time.Millisecond
	for n := range 40 {
		ceiling := min(time.Duration(1<<min(n, 10))*first, 30*time.Second)
		for range 100 {
			if wait := fullJitter(first, n); wait <= 0 || wait > ceiling {
				t.Fatalf("wait %d is %s", n, wait)
			}
		}
	}
}

func TestSecondAgentOnTheSameDataSaysSoAndExits(t *testing.T) {
	srv := newServer(t)
	first := startAgent(t, srv)
	srv.session(1)
	o := testOptions(t, srv.URL, t.TempDir())
	o.DataDir = first.DataDir
	var stop *StopError
	if err := Run(context.Background(), o); !errors.As(err, &stop) || !strings.Contains(stop.Message, "another agent") {
		t.Errorf("the second agent ends with %v", err)
	}
	o = testOptions(t, srv.URL, t.TempDir())
	o.WorkDir = first.WorkDir // it would clear the first one's runs
	if err := Run(context.Background(), o); !errors.As(err, &stop) {
		t.Errorf("an agent in the same work folder ends with %v", err)
	}
}

func TestMissingProgramOrAddressIsSaidAtOnce(t *testing.T) {
	for _, change := range []func(*Options){
		func(o *Options) { o.FFmpeg = "/nowhere/ffmpeg" },
		func(o *Options) { o.FFprobe = "" },
		func(o *Options) { o.URL = "studio.local:7420" },
	} {
		o := testOptions(t, "http://127.0.0.1:1", t.TempDir())
		change(&o)
		var stop *StopError
		if err := Run(context.Background(), o); !errors.As(err, &stop) {
			t.Errorf("the agent ends with %v", err)
		}
	}
}

func TestLeavingSaysByeAndEndsTheRun(t *testing.T) {
	srv := newServer(t)
	a, _, ffmpegs := slowRun(t, srv)
	if err := a.end(); err != nil {
		t.Errorf("the agent ends with %v", err)
	}
	if bye := next[*agentproto.Bye](srv, 0, nil); len(bye.Keep) != 0 || bye.Reason == "" {
		t.Errorf("bye is %+v", bye)
	}
	<-srv.session(1).ended
	if code := websocket.CloseStatus(srv.session(1).err); code != websocket.StatusNormalClosure {
		t.Errorf("closed with %d", code)
	}
	allEnd(t, ffmpegs)
	if left := folders(t, a.WorkDir); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestF17_LeavingKeepsAFinishedResult(t *testing.T) {
	srv := newServer(t)
	srv.reply = resume
	var open atomic.Bool
	srv.blob = func(w http.ResponseWriter, r *http.Request) bool { return !open.Load() && hang(http.MethodPut)(w, r) }
	dir := t.TempDir()
	a := startAgentIn(t, srv, dir)
	o := srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	next[*agentproto.Upload](srv, 0, nil)
	if err := a.end(); err != nil {
		t.Errorf("the agent ends with %v", err)
	}
	if bye := next[*agentproto.Bye](srv, 0, nil); len(bye.Keep) != 1 || bye.Keep[0] != o.IDs {
		t.Errorf("bye keeps %+v", bye.Keep)
	}
	kept := folders(t, a.WorkDir)
	if len(kept) != 1 {
		t.Fatalf("kept: %v", kept)
	}
	for path, want := range map[string]os.FileMode{kept[0]: 0o700, filepath.Join(kept[0], keptName): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v: %v", path, info.Mode(), err)
		}
	}
	open.Store(true)
	again := startAgentIn(t, srv, dir)
	if commit := next[*agentproto.Commit](srv, 0, nil); commit.LeaseEpoch != 2 {
		t.Errorf("commit under epoch %d", commit.LeaseEpoch)
	}
	again.over()
}
