package server

import (
	"time"

	"rendermac/agentproto"

	"golang.org/x/time/rate"
)

const (
	progressRate = 20       // a second and session; of the excess the newest is kept
	logRate      = 64 << 10 // bytes a second and session
	flushEvery   = 50 * time.Millisecond
)

// excess is what came faster than its rate: the newest progress and the newest
// lines of each run.
type excess struct {
	progress map[string]*agentproto.Progress
	log      map[string]*agentproto.Log
}

// handleLoop acts on a session's messages one after another, so that each run
// is answered in the order in which it spoke.
func (s *session) handleLoop(messages <-chan agentproto.Message) {
	defer s.end()
	progress := rate.NewLimiter(progressRate, progressRate)
	lines := rate.NewLimiter(logRate, logRate)
	late := excess{map[string]*agentproto.Progress{}, map[string]*agentproto.Log{}}
	var flush <-chan time.Time
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return
			}
			switch m := m.(type) {
			case *agentproto.Progress:
				late.progress[m.AttemptID] = m
			case *agentproto.Log:
				late.addLog(m)
			default:
				s.settleLate(m, late)
				s.handle(m)
			}
		case <-flush:
		}
		flush = nil
		for id, m := range late.progress {
			if progress.Allow() {
				delete(late.progress, id)
				s.progress(m)
			}
		}
		for id, m := range late.log {
			if lines.AllowN(time.Now(), min(logRate, logSize(m.Lines))) {
				delete(late.log, id)
				s.appendLog(m)
			}
		}
		if len(late.progress)+len(late.log) > 0 {
			flush = time.After(flushEvery)
		}
	}
}

// settleLate writes a run's waiting lines before the message that may end it;
// its waiting progress is overtaken.
func (s *session) settleLate(m agentproto.Message, late excess) {
	id := attemptOf(m)
	if lines, ok := late.log[id]; ok {
		delete(late.log, id)
		s.appendLog(lines)
	}
	delete(late.progress, id)
}

func (e excess) addLog(m *agentproto.Log) {
	if before, ok := e.log[m.AttemptID]; ok {
		m.Lines = append(before.Lines, m.Lines...)
	}
	for logSize(m.Lines) > logRate && len(m.Lines) > 1 {
		m.Lines = m.Lines[1:]
	}
	e.log[m.AttemptID] = m
}

func logSize(lines []string) int {
	n := len(lines)
	for _, l := range lines {
		n += len(l)
	}
	return n
}
