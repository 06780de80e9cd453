package server

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"rendermac/agentproto"

	"github.com/coder/websocket"
)

// gates hold the server up between a COMMIT and what follows it: there it
// writes a line to its log, and that line waits until its gate is opened.
type gates struct {
	slog.Handler
	shared *shutGates
	device string
}

type shutGates struct {
	mu   sync.Mutex
	shut map[string]chan struct{} // by message and device
}

func newGates() *gates {
	return &gates{Handler: slog.DiscardHandler, shared: &shutGates{shut: map[string]chan struct{}{}}}
}

// close shuts one gate; the answer opens it.
func (g *gates) close(message, device string) (open func()) {
	g.shared.mu.Lock()
	defer g.shared.mu.Unlock()
	gate, key := make(chan struct{}), message+device
	g.shared.shut[key] = gate
	return func() {
		g.shared.mu.Lock()
		defer g.shared.mu.Unlock()
		delete(g.shared.shut, key)
		close(gate)
	}
}

func (g *gates) Enabled(context.Context, slog.Level) bool { return true }

func (g *gates) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &gates{g.Handler, g.shared, deviceIn(g.device, attrs)}
}

func (g *gates) Handle(_ context.Context, r slog.Record) error {
	device := g.device
	r.Attrs(func(a slog.Attr) bool {
		device = deviceIn(device, []slog.Attr{a})
		return true
	})
	g.shared.mu.Lock()
	gate := g.shared.shut[r.Message+device]
	g.shared.mu.Unlock()
	if gate != nil {
		<-gate
	}
	return nil
}

func deviceIn(device string, attrs []slog.Attr) string {
	for _, a := range attrs {
		if a.Key == "device" {
			device = a.Value.String()
		}
	}
	return device
}

// drain is all that has come, in words.
func (m *mac) drain(each func(agentproto.Message)) (words []string) {
	for m.heard != nil {
		select {
		case h := <-m.heard:
			if h.err != nil {
				words = append(words, fmt.Sprintf("closed %d", websocket.CloseStatus(h.err)))
				m.heard = nil
				continue
			}
			each(h.message)
			words = append(words, inWords(h.message))
		default:
			return words
		}
	}
	return words
}

func inWords(message agentproto.Message) string {
	switch m := message.(type) {
	case *agentproto.LeaseResumed:
		return fmt.Sprintf("lease_resumed %d", m.LeaseEpoch)
	case *agentproto.LeaseRevoked:
		if m.Status == nil {
			return "lease_revoked null"
		}
		return "lease_revoked " + *m.Status
	case *agentproto.CommitRejected:
		return "commit_rejected " + m.Code
	case *agentproto.FailOK:
		return fmt.Sprintf("fail_ok %v", m.Requeued)
	case *agentproto.Error:
		return "error " + m.Code
	}
	return message.Type()
}
