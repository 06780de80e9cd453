package server

import (
	"context"
	"sync"
	"time"

	"rendermac/fence"
	"rendermac/store"
)

// matcher brings queued jobs and waiting slots together. It is woken by what
// may have changed either and never polls; only the end of a backoff has a
// timer (F3, F12).
type matcher struct {
	srv    *Server
	woken  chan struct{}
	offers int64
}

func newMatcher(s *Server) *matcher { return &matcher{srv: s, woken: make(chan struct{}, 1)} }

func (m *matcher) wake() { poke(m.woken) }

func (m *matcher) loop(ctx context.Context) {
	var timer <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.woken:
		case <-timer:
		}
		timer = nil
		if again := m.runOnce(ctx); !again.IsZero() {
			timer = time.After(again.Sub(m.srv.o.Now()))
		}
	}
}

// runOnce offers until no waiting session finds a job, and says when a backoff
// ends. It asks one session first, then twice as many at a time: one submit for
// fifty waiting Macs costs one transaction, and fifty jobs for them a few.
func (m *matcher) runOnce(ctx context.Context) (retryAt time.Time) {
	for {
		offered := false
		for _, s := range m.srv.hub.all() {
			s.announce()
		}
		waiting := m.srv.hub.waiting()
		for n := 1; len(waiting) > 0; n *= 2 {
			some := waiting[:min(n, len(waiting))]
			waiting = waiting[len(some):]
			outs := m.lease(ctx, some)
			for i, out := range outs {
				if out.Offer != nil {
					offered = true
					m.offers++
					m.srv.metrics.leased(out.Offer)
					some[i].offer(out.Offer, m.offers)
					m.srv.sweeper.at(out.Offer.ExpiresAt)
				}
				retryAt = fence.Sooner(retryAt, out.RetryAt)
			}
			if outs[len(outs)-1].Idle { // nobody else needs to ask; what comes now wakes us again
				break
			}
		}
		if !offered {
			return retryAt
		}
	}
}

// lease asks for all sessions at once, so that they share one COMMIT.
func (m *matcher) lease(ctx context.Context, sessions []*session) []store.LeaseOutcome {
	outs := make([]store.LeaseOutcome, len(sessions))
	var all sync.WaitGroup
	for i, s := range sessions {
		all.Go(func() {
			out, err := m.srv.o.DB.Lease(ctx, s.Session, m.srv.o.PartBytes)
			if err != nil {
				s.log.Error("could not lease", "err", err)
				out.RetryAt = m.srv.o.Now().Add(time.Second)
			}
			outs[i] = out
		})
	}
	all.Wait()
	return outs
}
