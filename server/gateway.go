package server

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/store"

	"github.com/coder/websocket"
	"github.com/labstack/echo/v4"
)

// gateway is GET /v1/provider/ws: it authenticates the device, upgrades, and
// serves the session until its socket ends.
func (s *Server) gateway(c echo.Context) error {
	r := c.Request()
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	device, err := "", error(nil)
	if ok {
		device, err = s.o.DB.DeviceByToken(r.Context(), token)
	}
	no := unauthenticated("This device token is unknown or was revoked: pair this Mac again.", "Bearer")
	switch {
	case !ok:
		return answer(c, no)
	case fence.CodeOf(err) == fence.CodeNotFound:
		return answer(c, s.wrong(c, no))
	case err != nil:
		return err
	}
	conn, err := websocket.Accept(c.Response(), r, &websocket.AcceptOptions{Subprotocols: []string{agentproto.Subprotocol}})
	if err != nil {
		return nil // Accept has answered
	}
	defer conn.CloseNow()
	conn.SetReadLimit(agentproto.MaxFrame)
	if conn.Subprotocol() != agentproto.Subprotocol {
		return conn.Close(agentproto.CloseProtocol, "offer the subprotocol "+agentproto.Subprotocol)
	}
	s.serveAgent(conn, device, s.base(c))
	return nil
}

// serveAgent waits for the hello, opens the session, and reads until it ends.
// It does not use the request's context, which ends with the upgrade.
func (s *Server) serveAgent(conn *websocket.Conn, device, base string) {
	log := s.o.Log.With("device", device)
	in := &inbox{conn: conn}
	late := time.AfterFunc(helloTimeout, func() { conn.Close(agentproto.ClosePolicy, "say hello within 10 s") })
	hello, err := in.hello()
	if !late.Stop() || err != nil {
		return
	}
	if hello.Protocol != agentproto.Version {
		conn.Close(agentproto.CloseProtocol, "this server speaks protocol 1")
		return
	}
	end, ok := s.hub.begin()
	if !ok {
		conn.Close(agentproto.CloseGoingAway, refusals[agentproto.CloseGoingAway])
		return
	}
	defer end()
	out, ses, refused := s.enter(conn, device, base, hello)
	for _, e := range out.Ended { // also where the session may not begin: their jobs wait for others
		s.settle(e, nil)
	}
	if ses == nil {
		conn.Close(refused, refusals[refused])
		return
	}
	defer s.hub.remove(ses)
	s.sweeper.at(out.SilentAt)
	ses.serve(in)
	log.Info("disconnected", "session", ses.SessionID)
}

var refusals = map[websocket.StatusCode]string{
	agentproto.CloseRevoked:      "this device was revoked: pair it again",
	agentproto.CloseStoreFailure: "the session could not be stored: reconnect",
	agentproto.CloseGoingAway:    "the server is going away",
}

// enter stores the session and gives it its place in the hub; without a session
// it says why there is none.
func (s *Server) enter(conn *websocket.Conn, device, base string, hello *agentproto.Hello) (store.HelloOutcome, *session, websocket.StatusCode) {
	log := s.o.Log.With("device", device)
	defer s.hub.arrive(device)()
	failpoint.At("server.hello.before")
	out, err := s.o.DB.Hello(context.Background(), helloOf(device, hello))
	failpoint.At("server.hello.after")
	switch {
	case fence.CodeOf(err) == store.CodeRevoked:
		return store.HelloOutcome{}, nil, agentproto.CloseRevoked
	case err != nil:
		log.Error("could not store the hello", "err", err)
		return store.HelloOutcome{}, nil, agentproto.CloseStoreFailure
	}
	log.Info("connected", "session", out.SessionID, "name", out.Name, "slots", out.Slots, "resumed", len(out.Resumptions), "ended", len(out.Ended))
	ses := s.open(conn, base, out)
	replaced, refused := s.hub.register(ses)
	if refused != 0 {
		return out, nil, refused
	}
	if replaced != nil {
		go replaced.close(agentproto.CloseReplaced, "replaced by a newer session of this device")
	}
	return out, ses, 0
}

func helloOf(device string, h *agentproto.Hello) store.Hello {
	facts, _ := json.Marshal(h.Device) // strings and numbers: it cannot fail
	out := store.Hello{DeviceID: device, Version: h.AgentVersion, Slots: max(0, h.Slots), Services: h.Services, Facts: facts}
	for _, e := range h.Resume {
		out.Resume = append(out.Resume, fence.Claim{JobID: e.JobID, AttemptID: e.AttemptID, Epoch: e.LeaseEpoch, Token: e.CommitToken})
	}
	return out
}

// open makes the session and puts hello_ok and the answers to resume in its
// queue, before anyone can send it an offer.
func (s *Server) open(conn *websocket.Conn, base string, h store.HelloOutcome) *session {
	ctx, cancel := context.WithCancel(context.Background())
	ses := &session{
		Session: h.Session, srv: s, conn: conn, base: base, ctx: ctx, end: func() { cancel(); conn.CloseNow() }, log: s.o.Log.With("device", h.DeviceID),
		acting: context.WithoutCancel(ctx), out: make(chan agentproto.Message, outQueue+len(h.Resumptions)),
		terms: h.Terms, drained: h.Draining, unanswered: map[string]bool{}, held: map[string]bool{},
	}
	ses.send(&agentproto.HelloOK{
		DeviceID: h.DeviceID, DeviceName: h.Name, Slots: h.Slots, Resume: s.o.Resume,
		LeaseTTL: agentproto.SecondsOf(s.o.LeaseTTL), Heartbeat: agentproto.SecondsOf(s.o.Heartbeat),
		ServerTime: agentproto.Time{Time: s.o.Now()}, ServerVersion: s.o.Version,
	})
	for _, r := range h.Resumptions {
		if r.Resumed {
			ses.held[r.AttemptID] = true
		}
		ses.send(resumption(r, s.o.LeaseTTL))
	}
	if h.Draining {
		ses.send(&agentproto.Drain{})
	}
	return ses
}

func resumption(r store.Resumption, ttl time.Duration) agentproto.Message {
	if r.Resumed {
		return &agentproto.LeaseResumed{
			IDs:         agentproto.IDs{JobID: r.JobID, AttemptID: r.AttemptID, LeaseEpoch: r.Epoch},
			CommitToken: r.CommitToken, LeaseExpiresAt: agentproto.Time{Time: r.ExpiresAt}, LeaseTTL: agentproto.SecondsOf(ttl),
		}
	}
	return &agentproto.LeaseRevoked{JobID: r.JobID, AttemptID: r.AttemptID, Status: (*string)(r.Status)}
}

// serve runs the session until its socket ends.
func (s *session) serve(in *inbox) {
	messages := make(chan agentproto.Message)
	var loops sync.WaitGroup
	defer loops.Wait()
	defer close(messages)
	defer s.end()
	loops.Go(s.writeLoop)
	loops.Go(s.pingLoop)
	loops.Go(func() { s.handleLoop(messages) })
	for {
		m, err := in.next()
		switch {
		case errors.Is(err, agentproto.ErrBadMessage):
			s.send(&agentproto.Error{Code: "bad_message", Message: err.Error()})
			continue
		case err != nil:
			return
		}
		messages <- m // handleLoop takes all that was heard: a bye comes just before the end
	}
}
