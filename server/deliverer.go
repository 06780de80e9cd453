package server

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/store"
)

// How many tries are under way at once: in all, and of one account, so that its
// dead receivers alone never take every place, and to one host (a lane).
const (
	triesAtOnce        = 48
	triesAtOnceAccount = 12
	triesAtOnceLane    = 3
)

// deliverer sends what the outbox holds, at least once: a try that a crash cuts
// off is made again under the same id. It sleeps until the next known try.
type deliverer struct {
	srv      *Server
	sender   sender
	flying   map[string]bool // deliveries under way, by id
	accounts map[string]int  // how many of each account
	lanes    map[string]int  // how many in each lane
	landed   chan store.Delivery
	tries    sync.WaitGroup
}

func newDeliverer(s *Server) *deliverer {
	return &deliverer{
		srv: s, sender: newSender(s.o), flying: map[string]bool{}, accounts: map[string]int{}, lanes: map[string]int{},
		landed: make(chan store.Delivery, triesAtOnce),
	}
}

func (d *deliverer) loop(ctx context.Context) {
	defer d.tries.Wait()
	next := d.runOnce(ctx)
	wall, mono := d.srv.o.Now(), d.srv.o.Mono()
	for {
		var timer <-chan time.Time
		if !next.IsZero() {
			timer = time.After(min(next.Sub(d.srv.o.Now()), maxNap))
		}
		asked := true
		select {
		case <-ctx.Done():
			return
		case <-d.srv.o.DB.Outbox():
		case w := <-d.landed:
			d.land(w)
		case <-timer:
			asked = false
		}
		now, then := d.srv.o.Now(), d.srv.o.Mono()
		if fence.ClockJump(now.Round(0).Sub(wall.Round(0)), then-mono) != 0 {
			d.srv.sweeper.at(now) // its transaction moves the tries with the clock, and Outbox says so (F15)
			next = now.Add(time.Second)
		}
		wall, mono = now, then
		if asked || !now.Before(next) {
			next = d.runOnce(ctx)
		}
	}
}

// runOnce starts what is due and finds a place, and says when to look again;
// what finds none is started as a try ends.
func (d *deliverer) runOnce(ctx context.Context) (next time.Time) {
	next, err := d.look(ctx)
	if err != nil && ctx.Err() == nil {
		d.srv.o.Log.Error("could not look for webhooks to deliver", "err", err)
		return d.srv.o.Now().Add(time.Second)
	}
	return next
}

// look goes to the account first that has the fewest tries under way: a place
// that falls free is not for ever taken by whoever has waited longest.
func (d *deliverer) look(ctx context.Context) (next time.Time, err error) {
	outgoing, err := d.srv.o.DB.Outgoing(ctx)
	slices.SortStableFunc(outgoing, func(a, b store.Outgoing) int { return cmp.Compare(d.accounts[a.AccountID], d.accounts[b.AccountID]) })
	for _, o := range outgoing {
		if err != nil {
			break
		}
		at := o.Due
		if !at.After(d.srv.o.Now()) {
			at, err = d.startOf(ctx, o.AccountID)
		}
		next = fence.Sooner(next, at)
	}
	return next, err
}

// lanesAtOnce is how many lanes of an account one look is at: something is under
// way in triesAtOnceAccount of them at the most, as many are begun, and the one
// after says when the next is due.
const lanesAtOnce = 2*triesAtOnceAccount + 1

// startOf starts what an account has due, and says when its next is.
func (d *deliverer) startOf(ctx context.Context, account string) (next time.Time, err error) {
	if d.full(account) {
		return next, nil
	}
	lanes, err := d.srv.o.DB.Lanes(ctx, account, lanesAtOnce)
	for _, l := range lanes {
		if err != nil || d.full(account) {
			break
		}
		at := l.Due
		if !at.After(d.srv.o.Now()) {
			at, err = d.start(ctx, l.Name)
		}
		next = fence.Sooner(next, at)
	}
	return next, err
}

// start starts the first due deliveries of a lane, and says when its next is due.
func (d *deliverer) start(ctx context.Context, lane string) (next time.Time, err error) {
	if d.lanes[lane] >= triesAtOnceLane {
		return next, nil
	}
	first, err := d.srv.o.DB.FirstOf(ctx, lane, triesAtOnceLane+1)
	for _, w := range first {
		switch {
		case d.flying[w.ID]:
		case w.Due.After(d.srv.o.Now()):
			return w.Due, nil
		case !d.full(w.AccountID) && d.lanes[lane] < triesAtOnceLane:
			d.takeOff(ctx, w)
		}
	}
	return next, err
}

// full says that an account has as many tries under way as it may, or all have.
func (d *deliverer) full(account string) bool {
	return len(d.flying) >= triesAtOnce || d.accounts[account] >= triesAtOnceAccount
}

func (d *deliverer) takeOff(ctx context.Context, w store.Delivery) {
	d.flying[w.ID] = true
	d.accounts[w.AccountID]++
	d.lanes[w.Lane]++
	d.tries.Go(func() {
		d.try(ctx, w)
		d.landed <- w
	})
}

func (d *deliverer) land(w store.Delivery) {
	delete(d.flying, w.ID)
	if d.accounts[w.AccountID]--; d.accounts[w.AccountID] == 0 {
		delete(d.accounts, w.AccountID)
	}
	if d.lanes[w.Lane]--; d.lanes[w.Lane] == 0 {
		delete(d.lanes, w.Lane)
	}
}

// try sends a delivery once and notes what came of it. No transaction is open
// meanwhile.
func (d *deliverer) try(ctx context.Context, w store.Delivery) {
	failpoint.At("server.deliver.before")
	a := d.sender.send(ctx, w)
	failpoint.At("server.deliver.after")
	if ctx.Err() != nil && a.fault != "" {
		return // the server stops: no fault of the receiver's
	}
	out, err := d.record(ctx, store.Tried{ID: w.ID, Round: w.Round, Tries: w.Tries, Status: a.status, Error: a.fault, Gone: a.gone, RetryAfter: a.retryAfter})
	log := d.srv.o.Log.With("delivery", w.ID, "job", w.JobID, "type", w.Type, "try", w.Tries+1, "status", a.status)
	switch {
	case err != nil:
		log.Error("a webhook was tried, and that could not be noted: it is tried again", "err", err)
	case out.State == "delivered":
		log.Info("webhook delivered")
	case out.State == "failed":
		log.Warn("webhook given up", "err", a.fault)
	case out.State == "pending":
		log.Info("webhook put off", "err", a.fault, "until", out.Next)
	}
}

// record insists: as long as a try is not noted, the delivery is not tried
// again. A server that stops notes what it can.
func (d *deliverer) record(ctx context.Context, r store.Tried) (store.TriedOutcome, error) {
	for {
		out, err := d.srv.o.DB.RecordTry(context.WithoutCancel(ctx), r)
		if err == nil || ctx.Err() != nil {
			return out, err
		}
		d.srv.o.Log.Warn("a try of a webhook could not be noted", "delivery", r.ID, "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
