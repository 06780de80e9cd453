package api

import (
	"context"
	"encoding/json"
	"time"
)

const (
	// patience is how long Wait goes on without an answer: longer than a restart.
	patience = 2 * time.Minute
	// burst is how long Wait lets events gather before it looks at the job.
	burst = 10 * time.Millisecond
	// seldom is how much less often Wait looks while it hears of each change.
	seldom = 20
)

// Wait returns the job once it has ended, and hands each state on the way to see.
// It looks when the job's events say so, and now and then besides: often where
// no events come, as through a proxy that holds them back. It tells waits of
// outages, unless that is nil.
func (c *Client) Wait(ctx context.Context, id string, see func(*Job), waits Waits) (*Job, error) {
	following, stop := context.WithCancel(ctx)
	defer stop()
	w := &waiter{client: c, id: id, see: see, heard: time.Now(), pause: c.every}
	w.outage.tell = waits
	events := c.follow(following, id)
	look := time.NewTimer(0)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case e, ok := <-events:
			if w.told = ok; !ok {
				events = nil
			}
			if !ok || !w.report(e) {
				look.Reset(burst)
			}
		case <-look.C:
			if done, err := w.look(ctx); done || err != nil {
				return w.job, err
			}
			look.Reset(w.next())
		}
	}
}

// follow is a job's events, closed where they end or cannot be had.
func (c *Client) follow(ctx context.Context, id string) <-chan *Event {
	events := make(chan *Event)
	go func() {
		defer close(events)
		_ = c.Events(ctx, id, func(e *Event) error { // whatever it is, Wait then looks by itself
			select {
			case events <- e:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	return events
}

// waiter is what Wait knows.
type waiter struct {
	client *Client
	id     string
	see    func(*Job)
	job    *Job // nil until the first look
	told   bool // events come
	heard  time.Time
	pause  time.Duration
	outage outage
}

// look asks for the job; an outage is outlasted.
func (w *waiter) look(ctx context.Context) (done bool, err error) {
	job, err := w.client.Job(ctx, w.id)
	switch {
	case err == nil:
		w.job, w.heard = job, time.Now()
		w.outage.ends()
		w.see(job)
		return job.Ended(), nil
	case !passing(err) || time.Since(w.heard) > patience:
		w.job = nil
		return false, err
	}
	w.outage.begins(err, patience)
	return false, nil
}

// next is when to look again if nothing else is heard.
func (w *waiter) next() time.Duration {
	pause := w.pause
	w.pause = min(pause*5/4, 4*w.client.every)
	if w.told {
		return seldom * w.client.every
	}
	return pause
}

// report shows a progress in the job as it was last seen.
func (w *waiter) report(e *Event) bool {
	var p Progress
	if e.Type != EventProgress || w.job == nil || e.AttemptID == nil || json.Unmarshal(e.Data, &p) != nil {
		return false
	}
	for i := range w.job.Attempts {
		if a := &w.job.Attempts[i]; a.ID == *e.AttemptID && a.EndedAt == nil {
			a.Status, a.Phase, a.Fraction, a.FPS, a.Speed, a.ETASeconds = p.Phase, &p.Phase, p.Fraction, p.FPS, p.Speed, p.ETASeconds
			w.see(w.job)
			return true
		}
	}
	return false
}
