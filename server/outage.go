package server

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"rendermac/artifact"
	"rendermac/fence"
)

const (
	outageLook  = 15 * time.Second // between two looks at a store that is away, at the most
	outageRetry = 10 * time.Second // after which those who were refused come again
)

// outage is what the server knows of its artifact store being away. While all is
// well nobody looks. Whoever is told ErrUnavailable says so; if the store itself
// says the same, one watcher looks until it is back, and then wakes whatever was
// put off.
type outage struct {
	srv  *Server
	told chan struct{} // holds one token: somebody was told that the store is away, or that it is back

	mu    sync.Mutex
	cause error // what was told last
	away  bool
	since time.Duration // on the clock that nobody sets
}

func newOutage(s *Server) *outage { return &outage{srv: s, told: make(chan struct{}, 1)} }

// met says whether err means that the store is away, and lets the watcher know.
func (o *outage) met(err error) bool {
	if !errors.Is(err, artifact.ErrUnavailable) {
		return false
	}
	o.mu.Lock()
	o.cause = err
	known := o.away
	o.mu.Unlock()
	if !known {
		o.wake()
	}
	return true
}

// wake makes the watcher look now.
func (o *outage) wake() { poke(o.told) }

// over is called by who has seen the store take a write.
func (o *outage) over() {
	if o.is() {
		o.wake()
	}
}

// is says whether the store is known to be away.
func (o *outage) is() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.away
}

func (o *outage) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.told:
		}
		if o.begins(ctx) {
			o.wait(ctx)
		}
	}
}

// begins asks the store itself: one object that cannot be read is no outage.
func (o *outage) begins(ctx context.Context) bool {
	err := o.srv.o.Artifacts.Check(ctx)
	away := errors.Is(err, artifact.ErrUnavailable)
	o.mu.Lock()
	cause := o.cause
	o.away, o.since = away, o.srv.o.Mono()
	if !away {
		o.cause = nil // it is told below, once
	}
	o.mu.Unlock()
	switch {
	case away:
		o.srv.o.Log.Error("the artifact store is away: what needs it waits, and goes on when it is back", "err", err)
	case cause != nil && ctx.Err() == nil:
		o.srv.o.Log.Error("the artifact store failed, though it takes writes: see whether its disk has errors", "err", cause)
	}
	return away
}

// wait looks with backoff until the store is back. A full one is there.
func (o *outage) wait(ctx context.Context) {
	for try := 1; ; try++ {
		pause := time.NewTimer(jittered(min(outageLook, fence.Backoff(time.Second, try))))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-o.told:
			pause.Stop()
		case <-pause.C:
		}
		if err := o.srv.o.Artifacts.Check(ctx); !errors.Is(err, artifact.ErrUnavailable) && ctx.Err() == nil {
			o.ends(ctx)
			return
		}
	}
}

// ends wakes everything that the outage has put off, at once.
func (o *outage) ends(ctx context.Context) {
	o.mu.Lock()
	o.away, o.cause = false, nil
	lasted := o.srv.o.Mono() - o.since
	o.mu.Unlock()
	o.srv.o.Log.Info("the artifact store is back", "away", lasted.Round(time.Second))
	o.srv.verifier.again()
	if err := o.srv.retention.finish(ctx); err != nil && !o.met(err) && ctx.Err() == nil {
		o.srv.o.Log.Warn("could not abort stale uploads: it is tried again within the hour", "err", err)
	}
}

// jittered is a wait of up to a fifth more or less, so that not all come at once.
func jittered(wait time.Duration) time.Duration {
	return time.Duration(float64(wait) * (0.8 + 0.4*rand.Float64()))
}
