package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"rendermac/agentproto"
)

// Why a run is no longer ours. Nothing more is said to the server then.
var (
	errConflict  = errors.New("the server says that this run does not hold its lease")
	errRevoked   = errors.New("the server says that this run is over")
	errLeaseOver = errors.New("the lease ran out without a renewal")
)

// lease is what a run knows of its own authority: who it is on the wire, which
// session knows it, and until when it may work. The session's reader writes it,
// the run's goroutines wait on it.
type lease struct {
	now      clock
	mu       sync.Mutex
	changed  chan struct{} // closed, and made anew, at every change
	ids      agentproto.IDs
	token    string
	link     *link         // the session that knows this run; nil while none does
	ttl      time.Duration // how long a renewal lasts
	ends     time.Duration // by the machine's clock; 0 while no lease clock runs
	beats    []beat        // progress that waits for its answer, oldest first
	asked    time.Duration // when the request in flight was sent
	answers  chan<- agentproto.Message
	accepted bool               // the commit passed F6
	final    agentproto.Message // the server's last word on this attempt
}

// beat is one progress message on its way.
type beat struct {
	sent  time.Duration
	media bool // it carried input_media
}

func (l *lease) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *lease) get(read func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	read()
}

// await returns once ok, which is called under the lock, holds.
func (l *lease) await(ctx context.Context, ok func() bool) error {
	for {
		l.mu.Lock()
		holds, changed := ok(), l.changed
		l.mu.Unlock()
		if holds {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *lease) identity() (ids agentproto.IDs, token string) {
	l.get(func() { ids, token = l.ids, l.token })
	return ids, token
}

func (l *lease) isAccepted() (accepted bool) {
	l.get(func() { accepted = l.accepted })
	return accepted
}

// detach is called when a session has ended: what was on its way is lost.
func (l *lease) detach(ended *link) {
	l.set(func() {
		if l.link == ended {
			l.link, l.beats = nil, nil
		}
	})
}

// stopClock is called as the commit is sent. From then on the result needs no
// lease to wait for its answer, however long the connection is gone (F17).
func (l *lease) stopClock() { l.set(func() { l.ends = 0 }) }

// extend counts a whole lease from when the message that renewed it was sent,
// not from its answer (F17). A clock that is off stays off.
func (l *lease) extend(sent time.Duration) {
	if l.ends != 0 {
		l.ends = max(l.ends, sent+l.ttl)
	}
}

// renewed is a progress_ok. Answers come in order, so it answers the oldest
// beat; if the server dropped that one, the lease is counted too short, never
// too long.
func (l *lease) renewed(m *agentproto.ProgressOK) (mediaKnown bool) {
	l.set(func() {
		if m.IDs != l.ids || len(l.beats) == 0 {
			return
		}
		oldest := l.beats[0]
		l.beats, l.ttl, mediaKnown = l.beats[1:], m.LeaseTTL.Duration(), oldest.media
		l.extend(oldest.sent)
	})
	return mediaKnown
}

// answered hands m to whoever asked.
func (l *lease) answered(m agentproto.Message) {
	l.set(func() {
		switch m.(type) {
		case *agentproto.UploadGrant: // upload renews as progress does
			l.extend(l.asked)
		case *agentproto.CommitAccepted:
			l.accepted, l.ends = true, 0
		case *agentproto.CommitOK, *agentproto.CommitRejected:
			l.final = m
		}
		select {
		case l.answers <- m:
		default: // nobody asked, or there is an answer already
		}
	})
}

// watch ends the run when a whole lease has passed without a renewal.
func (l *lease) watch(ctx context.Context, lose context.CancelCauseFunc) {
	for ctx.Err() == nil {
		var ends time.Duration
		var changed chan struct{}
		l.get(func() { ends, changed = l.ends, l.changed })
		wait := glance
		if ends != 0 {
			wait = min(wait, ends-l.now())
		}
		if wait <= 0 {
			lose(errLeaseOver)
			return
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(wait):
		}
	}
}
