package server

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/fence"

	"github.com/coder/websocket"
)

func TestGateway_RefusesUnknownTokensBeforeTheUpgrade(t *testing.T) {
	h := mustStudio(t)
	for _, auth := range []string{"", "Bearer rmd_guess", "Basic x"} {
		r := h.do("GET", "/v1/provider/ws", "", nil, "Authorization", auth, "Connection", "Upgrade", "Upgrade", "websocket",
			"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		r.refuses(401, "unauthenticated")
	}
}

func TestGateway_ClosesWhoSpeaksAnotherProtocol(t *testing.T) {
	h := mustStudio(t)
	m := h.mustPair("old")
	conn, _, err := websocket.Dial(context.Background(), h.url+"/v1/provider/ws",
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + m.token}}})
	if err != nil {
		t.Fatal(err)
	}
	m.conn = conn
	m.closed(agentproto.CloseProtocol)

	m.dial()
	m.say(&agentproto.Hello{Protocol: 2})
	m.closed(agentproto.CloseProtocol)
}

func TestGateway_BadMessagesAreAnsweredAndTenInARowAreBorne(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(0)
	bad := []string{`{"type":"nonsense"}`, `not json`, `[]`, `{"type":"progress","lease_epoch":"one"}`, `{}`}
	for i := range maxBad {
		m.sayText(bad[i%len(bad)])
		if got := hear[agentproto.Error](m); got.Code != "bad_message" || got.Message == "" {
			t.Fatalf("%s was answered %+v", bad[i%len(bad)], got)
		}
	}
	m.say(&agentproto.Ready{SlotsFree: 0}) // a good one: the count begins anew
	for i := range maxBad {
		if i%2 == 0 {
			m.say(&agentproto.Hello{Protocol: 1})
		} else {
			m.say(&agentproto.CommitOK{})
		}
		if got := hear[agentproto.Error](m); got.Code != "bad_message" {
			t.Fatalf("out of place: %+v", got)
		}
	}
	m.sayText("x")
	m.closed(agentproto.ClosePolicy)
}

func TestGateway_BinaryAndHugeFrames(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(0)
	if err := m.conn.Write(context.Background(), websocket.MessageBinary, []byte(`{"type":"ready"}`)); err != nil {
		t.Fatal(err)
	}
	if got := hear[agentproto.Error](m); got.Code != "bad_message" {
		t.Fatalf("%+v", got)
	}
	m.sayText(`{"type":"ready","x":"` + strings.Repeat("x", agentproto.MaxFrame) + `"}`)
	m.closed(agentproto.CloseTooBig)
}

func TestGateway_HelloComesFirst(t *testing.T) {
	h := mustStudio(t)
	m := h.mustPair("mini")
	m.dial()
	m.say(&agentproto.Ready{SlotsFree: 1})
	if got := hear[agentproto.Error](m); got.Code != "bad_message" {
		t.Fatalf("%+v", got)
	}
	m.say(&agentproto.Hello{Protocol: 1, Slots: 1})
	if ok := hear[agentproto.HelloOK](m); ok.DeviceID != m.id || ok.DeviceName != "mini" || ok.Slots != 1 || ok.LeaseTTL != 60 || ok.Heartbeat != 15 || !ok.Resume {
		t.Fatalf("hello_ok %+v", ok)
	}
}

func TestGateway_OfNineHundredProgressesTheNewestIsKept(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	const sent = 900
	for i := range sent {
		p := r.progress("running")
		p.Fraction = ptr(float64(i) / sent)
		r.say(p)
	}
	r.say(&agentproto.Inputs{IDs: r.IDs}) // overtakes what is left of them
	answered := 0
	for {
		msg, err := r.next()
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := msg.(*agentproto.InputsOK); ok {
			break
		}
		answered++
	}
	if answered == 0 || answered > sent/2 {
		t.Fatalf("%d of %d progresses were answered", answered, sent)
	}
}

func TestGateway_LogsAreKeptToTheirTail(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	for _, line := range []string{"first\x00", strings.Repeat("y", 40<<10), strings.Repeat("z", 40<<10), "last"} {
		r.say(&agentproto.Log{IDs: r.IDs, Lines: []string{line}})
	}
	r.fail("runner_failed") // its lines go before it
	log := string(h.get("/v1/jobs/"+r.JobID+"/attempts/1/log", h.admin).is(200).body)
	if len(log) > 64<<10 || !strings.HasSuffix(log, "last\n") || strings.Contains(log, "first") || strings.Contains(log, "\x00") {
		t.Fatalf("the log has %d bytes and ends in %q", len(log), log[max(0, len(log)-20):])
	}
}

func TestGateway_StopSaysGoingAway(t *testing.T) {
	h := mustServe(t)
	if err := h.srv.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := h.mustMac(1)
	h.srv.Stop()
	m.closed(agentproto.CloseGoingAway)
}

func TestGateway_ATokenIsInNoLogLine(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	r.reach(fence.AttemptUploading)
	r.commit()
	hear[agentproto.CommitOK](m)
	for _, secret := range []string{r.token, m.token, h.admin} {
		if strings.Contains(h.log.String(), secret) {
			t.Fatalf("a secret stands in the log:\n%s", h.log.String())
		}
	}
}

func TestGateway_ASilentSocketIsEnded(t *testing.T) {
	h := mustStudio(t, func(o *Options) { o.Heartbeat = 20 * time.Millisecond })
	m := h.mustMac(1) // reads no more, and so answers no ping
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	vain := time.After(2 * pongTimeout)
	for h.srv.hub.of(m.id) != nil {
		select {
		case <-look.C:
		case <-vain:
			t.Fatal("a socket that answers no ping lives on")
		}
	}
}

func TestGateway_AFloodOfLinesHoldsNobodyUp(t *testing.T) {
	h := mustStudio(t)
	r := h.mustMac(1).mustRun()
	m := &agentproto.Log{IDs: r.IDs, Lines: make([]string, 300_000)}
	r.say(m)
	r.say(r.progress("running"))
	hear[agentproto.ProgressOK](r.mac)
}

// An agent whose result is too long for parts as it was told them makes longer
// ones; more than a store takes are refused, and the session goes on.
func TestF16_PartsOfALongResultAreLonger(t *testing.T) {
	h := mustStudio(t, func(o *Options) { o.PartBytes = 1 })
	r := h.mustMac(1).mustRun()
	r.output = bytes.Repeat([]byte("x"), 10_001)
	r.say(r.uploadMessage())
	if e := hear[agentproto.Error](r.mac); e.Code != "bad_message" || e.AttemptID != r.AttemptID {
		t.Errorf("10001 parts are answered with %+v", e)
	}
	r.offer.Output.PartBytes = 5000
	r.say(r.uploadMessage())
	if e := hear[agentproto.Error](r.mac); e.Code != "bad_message" {
		t.Errorf("parts of a length of its own are answered with %+v", e)
	}
	r.offer.Output.PartBytes = 1 << 20
	if g := r.upload(); len(g.Parts) != 1 || g.NextPart != nil {
		t.Errorf("granted %+v", g)
	}
	r.say(r.uploadMessage()) // as after a restart
	if g := hear[agentproto.UploadGrant](r.mac); len(g.Parts) != 0 {
		t.Errorf("granted again %+v", g)
	}
	r.commit()
}

// As many parts as an agent makes of one result, at their longest, are one frame.
func TestF16_AllPartsOfOneResultFitIntoOneFrame(t *testing.T) {
	h := mustStudio(t, func(o *Options) { o.PartBytes = 1 })
	r := h.mustMac(1).mustRun()
	r.output = bytes.Repeat([]byte("x"), 8192)
	up := r.uploadMessage()
	for g := (*agentproto.UploadGrant)(nil); g == nil || g.NextPart != nil; up.FromPart = *cmp.Or(g.NextPart, new(int)) {
		r.say(up)
		if g = hear[agentproto.UploadGrant](r.mac); len(g.Parts) != agentproto.MaxGrantParts {
			t.Fatalf("a page of %d parts", len(g.Parts))
		}
	}
	for i := range up.Parts {
		up.Parts[i].Bytes = 5 << 30
	}
	frame, err := agentproto.Encode(up)
	if err != nil || len(frame) > agentproto.MaxFrame*7/8 {
		t.Errorf("a frame of %d bytes: %v", len(frame), err)
	}
}
