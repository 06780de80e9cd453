package server

import (
	"context"
	"sync"
	"time"

	"rendermac/fence"
)

// maxNap bounds how long the sweeper trusts a timer: timers stand still while
// the machine sleeps, and know nothing of a clock that is set.
const maxNap = 10 * time.Second

// sweeper ends what time alone ends (F13). It sleeps until the next known
// deadline, and looks at the clocks meanwhile, never at the store.
type sweeper struct {
	srv   *Server
	mu    sync.Mutex
	next  time.Time // zero: nothing is known
	woken chan struct{}
}

func newSweeper(s *Server) *sweeper { return &sweeper{srv: s, woken: make(chan struct{}, 1)} }

// at tells of a deadline; only one before the next known wakes the sweeper.
func (w *sweeper) at(deadline time.Time) {
	w.mu.Lock()
	sooner := w.next.IsZero() || deadline.Before(w.next)
	if sooner {
		w.next = deadline
	}
	w.mu.Unlock()
	if sooner {
		poke(w.woken)
	}
}

func (w *sweeper) loop(ctx context.Context) {
	w.runOnce(ctx)
	wall, mono := w.srv.o.Now(), w.srv.o.Mono()
	for {
		w.mu.Lock()
		next := w.next
		w.mu.Unlock()
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(min(next.Sub(w.srv.o.Now()), maxNap))
		}
		select {
		case <-ctx.Done():
			return
		case <-w.woken: // an earlier deadline: look at the timer again
		case <-timer:
		case <-w.srv.o.DB.Unsettled(): // an end has more dependents than one transaction tells
			w.at(w.srv.o.Now())
		}
		now, then := w.srv.o.Now(), w.srv.o.Mono()
		jumped := fence.ClockJump(now.Round(0).Sub(wall.Round(0)), then-mono) != 0 // then next is by another clock (F15)
		wall, mono = now, then
		if jumped || !next.IsZero() && !now.Before(next) {
			w.runOnce(ctx)
		}
	}
}

func (w *sweeper) runOnce(ctx context.Context) {
	w.mu.Lock()
	w.next = time.Time{} // deadlines told of while the sweep runs count anew
	w.mu.Unlock()
	out, err := w.srv.o.DB.Sweep(ctx)
	if err != nil {
		if ctx.Err() == nil {
			w.srv.o.Log.Error("could not sweep", "err", err)
		}
		w.at(w.srv.o.Now().Add(time.Second))
		return
	}
	for _, e := range out.Ended {
		w.srv.settle(e, nil)
	}
	for _, id := range out.Failed {
		w.srv.reader.drop(id)
		w.srv.o.Log.Info("job failed", "job", id, "code", "no_capacity")
	}
	for _, id := range out.Offline {
		w.srv.o.Log.Info("device offline", "device", id)
	}
	if len(out.Offline) > 0 || out.Told > 0 { // jobs may now go to a Mac that was skipped, or have what they waited for
		w.srv.matcher.wake()
	}
	if !out.Next.IsZero() {
		w.at(out.Next)
	}
}
