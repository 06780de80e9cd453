package agent

import (
	"context"
	"time"

	"rendermac/agentproto"
)

// spacing is the least time between two progress messages of one run. The
// server takes 20 a second from a session and drops the rest.
const spacing = time.Second

// pulse sends progress as it comes, and at least often enough to keep the
// lease, for as long as the run needs its lease: also while it waits for a slot,
// hashes, uploads or stops (F5). It pauses while no session knows the run and
// once the commit is accepted.
func (r *run) pulse(ctx context.Context) {
	for {
		var on *link
		err := r.await(ctx, func() bool { on = r.link; return on != nil && !r.accepted })
		if err != nil {
			return
		}
		r.beat(on)
		every := r.a.heartbeat() * 3 / 4
		least := min(max(spacing, time.Duration(r.a.Slots)*spacing/10), every/2)
		if !rest(ctx, on, least, r.report.urgent) || !rest(ctx, on, every-least, r.report.news) {
			return
		}
	}
}

// rest waits for d, for news or for the end of the session; false says that ctx
// has ended.
func rest(ctx context.Context, on *link, d time.Duration, news <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-on.gone:
	case <-news:
	case <-time.After(d):
	}
	return true
}

// beat notes when it was sent before it is sent, for that is when a renewed
// lease begins (F17). A session that has ended meanwhile gets nothing.
func (r *run) beat(on *link) {
	var m *agentproto.Progress
	r.get(func() {
		if r.link == on {
			m = r.report.message(r.ids)
			r.beats = append(r.beats, beat{r.now(), m.InputMedia != nil})
		}
	})
	if m == nil {
		return
	}
	err := on.send(m)
	if lines := r.report.takeLines(); err == nil && len(lines) > 0 {
		err = on.send(&agentproto.Log{IDs: m.IDs, Lines: lines})
	}
	if err != nil {
		r.log.Debug("progress not sent", "error", err)
	}
}

// flush says what must be said before a request that may be the last: what
// ffprobe found, and the last lines of the log.
func (r *run) flush() {
	var on *link
	r.get(func() { on = r.link })
	if on != nil && r.report.waiting() {
		r.beat(on)
	}
}
