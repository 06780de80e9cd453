package server

import (
	"slices"
	"time"

	"rendermac/agentproto"

	"golang.org/x/time/rate"
)

const (
	progressRate = 20       // a second and session; of the excess the newest is kept
	logRate      = 64 << 10 // bytes a second and session; of the excess the newest are kept
	flushEvery   = 50 * time.Millisecond
	maxWaiting   = 64 // runs whose messages are held back
)

// pace holds back what comes faster than its rate: one message a run, into
// which those that follow are merged.
type pace[M any] struct {
	limit   *rate.Limiter
	cost    func(M) int
	merge   func(before, newest M) M
	waiting map[string]M // by attempt
}

func newPace[M any](perSecond int, cost func(M) int, merge func(before, newest M) M) *pace[M] {
	return &pace[M]{rate.NewLimiter(rate.Limit(perSecond), perSecond), cost, merge, map[string]M{}}
}

// add drops what is past maxWaiting runs: so many no Mac has, unless it makes
// them up.
func (p *pace[M]) add(attemptID string, m M) {
	before, ok := p.waiting[attemptID]
	switch {
	case ok:
		p.waiting[attemptID] = p.merge(before, m)
	case len(p.waiting) < maxWaiting:
		p.waiting[attemptID] = m
	}
}

// due takes out what the rate allows now.
func (p *pace[M]) due(now time.Time) (out []M) {
	for id, m := range p.waiting {
		if p.limit.AllowN(now, p.cost(m)) {
			delete(p.waiting, id)
			out = append(out, m)
		}
	}
	return out
}

func (p *pace[M]) take(attemptID string) (M, bool) {
	m, ok := p.waiting[attemptID]
	delete(p.waiting, attemptID)
	return m, ok
}

// newest is a progress that overtakes another; what the agent says only once is
// carried over.
func newest(before, m *agentproto.Progress) *agentproto.Progress {
	if len(m.InputMedia) == 0 {
		m.InputMedia = before.InputMedia
	}
	return m
}

func joined(before, m *agentproto.Log) *agentproto.Log {
	m.Lines = tail(append(before.Lines, m.Lines...))
	return m
}

// tail is the newest lines that one second's rate has room for, but at least one.
func tail(lines []string) []string {
	size, from := 0, len(lines)
	for from > 0 && (size == 0 || size+len(lines[from-1])+1 <= logRate) {
		from--
		size += len(lines[from]) + 1
	}
	return slices.Clone(lines[from:]) // and let go of the rest
}

func logSize(m *agentproto.Log) int {
	size := len(m.Lines)
	for _, l := range m.Lines {
		size += len(l)
	}
	return min(size, logRate)
}

// handleLoop acts on a session's messages one after another, so that each run
// is answered in the order in which it spoke.
func (s *session) handleLoop(messages <-chan agentproto.Message) {
	defer s.end()
	progress := newPace(progressRate, func(*agentproto.Progress) int { return 1 }, newest)
	lines := newPace(logRate, logSize, joined)
	var flush <-chan time.Time
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return
			}
			switch m := m.(type) {
			case *agentproto.Progress:
				progress.add(m.AttemptID, m)
			case *agentproto.Log:
				m.Lines = tail(m.Lines)
				lines.add(m.AttemptID, m)
			default: // a run's lines go before the message that may end it; its progress is overtaken
				if waiting, ok := lines.take(attemptOf(m)); ok {
					s.appendLog(waiting)
				}
				if waiting, ok := progress.take(attemptOf(m)); ok && len(waiting.InputMedia) > 0 {
					s.progress(waiting)
				}
				s.handle(m)
			}
		case <-flush:
		}
		now := time.Now()
		for _, m := range progress.due(now) {
			s.progress(m)
		}
		for _, m := range lines.due(now) {
			s.appendLog(m)
		}
		if flush = nil; len(progress.waiting)+len(lines.waiting) > 0 {
			flush = time.After(flushEvery)
		}
	}
}
