package server

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/store"

	"github.com/coder/websocket"
)

const (
	helloTimeout = 10 * time.Second
	pongTimeout  = 10 * time.Second
	writeTimeout = 10 * time.Second
	closeTimeout = time.Second // for the other side's half of a close
	maxBad       = 10          // bad messages in a row
	outQueue     = 256         // an agent that leaves so many unread has gone
)

// session is one agent's connection after its hello.
type session struct {
	store.Session
	srv  *Server
	conn *websocket.Conn
	base string // what signed paths are put behind
	log  *slog.Logger
	ctx  context.Context // ends with the socket
	end  func()          // ends both: nothing else would end the read of a socket that is silent
	out  chan agentproto.Message

	acting context.Context // what was heard is acted on, though the socket ends meanwhile

	mu         sync.Mutex
	terms      store.Terms
	drained    bool            // as the agent was told
	slotsFree  int             // as the last ready said
	unanswered map[string]bool // offers since that ready that no message has answered
	held       map[string]bool // live attempts that count here (F11)
	lastOffer  int64
}

func (s *session) send(m agentproto.Message) {
	select {
	case s.out <- m:
	case <-s.ctx.Done():
	default:
		s.log.Warn("agent does not read", "type", m.Type())
		go s.close(agentproto.ClosePolicy, "too many messages unread")
	}
}

// close says why and ends the session; an agent that is frozen is not waited
// for. It may be called more than once.
func (s *session) close(code websocket.StatusCode, reason string) {
	impatient := time.AfterFunc(closeTimeout, func() { s.conn.CloseNow() })
	defer impatient.Stop()
	failpoint.At("server.close.before")
	_ = s.conn.Close(code, reason)
	failpoint.At("server.close.after")
	s.end()
}

// writeLoop is the only one that writes messages, in the order of send.
func (s *session) writeLoop() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case m := <-s.out:
			if err := s.write(m); err != nil {
				s.end()
				return
			}
		}
	}
}

func (s *session) write(m agentproto.Message) error {
	frame, err := agentproto.Encode(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
	defer cancel()
	failpoint.At("server.send.before")
	err = s.conn.Write(ctx, websocket.MessageText, frame)
	failpoint.At("server.send.after")
	return err
}

// pingLoop keeps an idle session, and the device's last_seen_at, alive.
func (s *session) pingLoop() {
	for {
		wait := time.Duration(float64(s.srv.o.Heartbeat) * (0.8 + 0.4*rand.Float64()))
		select {
		case <-s.ctx.Done():
			return
		case <-time.After(wait):
		}
		ctx, cancel := context.WithTimeout(s.ctx, pongTimeout)
		err := s.conn.Ping(ctx)
		cancel()
		if err != nil {
			s.end()
			return
		}
		switch silentAt, err := s.srv.o.DB.Seen(s.ctx, s.Session); {
		case err == nil:
			s.srv.sweeper.at(silentAt)
		case s.ctx.Err() == nil:
			s.log.Warn("could not note that the device is alive", "err", err)
		}
	}
}

// load is how many offers the session can take now, how busy it is, and when
// it had its last one.
func (s *session) load() (free int, busy float64, lastOffer int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free = min(s.slotsFree-len(s.unanswered), s.terms.Slots-len(s.held))
	if s.drained || s.ctx.Err() != nil {
		free = 0
	}
	return free, float64(len(s.held)) / float64(max(1, s.terms.Slots)), s.lastOffer
}

// follow takes terms over, unless newer ones came first.
func (s *session) follow(t store.Terms) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.Revision > s.terms.Revision {
		s.terms = t
	}
}

// announce tells the agent whether it drains, where it does not know. Only the
// matcher calls it, who also makes the offers: so none comes after a drain.
func (s *session) announce() {
	s.mu.Lock()
	known := s.drained == s.terms.Draining
	s.drained = s.terms.Draining
	drained := s.drained
	s.mu.Unlock()
	switch {
	case known:
	case drained:
		s.send(&agentproto.Drain{})
	default:
		s.send(&agentproto.ResumeWork{})
	}
}

func (s *session) occupancy() (slots, busy int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.terms.Slots, len(s.held)
}

func (s *session) ready(slotsFree int) {
	s.mu.Lock()
	s.slotsFree = slotsFree
	clear(s.unanswered)
	s.mu.Unlock()
}

func (s *session) answered(attemptID string) {
	s.mu.Lock()
	delete(s.unanswered, attemptID)
	s.mu.Unlock()
}

func (s *session) release(attemptID string) {
	s.mu.Lock()
	delete(s.held, attemptID)
	delete(s.unanswered, attemptID)
	s.mu.Unlock()
}

// offer hands a lease over; its slot is taken before the message is on its way.
func (s *session) offer(o *store.Offer, order int64) {
	s.mu.Lock()
	s.held[o.AttemptID], s.unanswered[o.AttemptID], s.lastOffer = true, true, order
	s.mu.Unlock()
	inputs, err := s.inputs(o.Inputs)
	if err != nil { // the lease runs out unanswered, and the job is tried again
		s.log.Error("could not sign the inputs", "job", o.JobID, "attempt", o.AttemptID, "err", err)
		return
	}
	s.log.Info("leased", "job", o.JobID, "attempt", o.AttemptID, "number", o.AttemptNumber, "service", o.Service)
	s.send(&agentproto.LeaseOffer{
		IDs:           agentproto.IDs{JobID: o.JobID, AttemptID: o.AttemptID, LeaseEpoch: o.Epoch},
		AttemptNumber: o.AttemptNumber, CommitToken: o.CommitToken,
		LeaseExpiresAt: agentproto.Time{Time: o.ExpiresAt}, LeaseTTL: agentproto.SecondsOf(s.srv.o.LeaseTTL),
		Service: o.Service, Params: o.Params, Inputs: inputs,
		Output: agentproto.Output{Key: o.OutputKey, ContentType: o.ContentType, PartBytes: o.PartBytes},
	})
}

// inputURLs last this long; an agent that needs more asks with `inputs`.
const inputURLs = 6 * time.Hour

func (s *session) inputs(list []store.Input) ([]agentproto.Input, error) {
	out := make([]agentproto.Input, 0, len(list))
	for _, in := range list {
		if in.Path != "" { // the agent has a mount of its own
			root, file, _ := strings.Cut(in.Path, "/")
			out = append(out, agentproto.Input{Name: in.Name, Root: root, Path: file, Bytes: in.Bytes, SHA256: in.SHA256})
			continue
		}
		u, err := s.srv.o.Artifacts.SignGet(s.ctx, in.Key, in.Name, s.srv.o.Now().Add(inputURLs))
		if err != nil {
			return nil, err
		}
		out = append(out, agentproto.Input{Name: in.Name, URL: absolute(s.base, u.URL), Bytes: in.Bytes, SHA256: in.SHA256})
	}
	return out, nil
}
