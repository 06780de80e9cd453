package agent

import (
	"context"
	"slices"
	"sync"
)

// slots are how many runs may work at once. Whoever finds none free waits in line.
type slots struct {
	mu      sync.Mutex
	size    int
	used    int
	line    []chan struct{}
	changed chan struct{} // holds one token when the number of free slots may have changed
}

func newSlots(size int) *slots { return &slots{size: size, changed: make(chan struct{}, 1)} }

// resize follows an admin's override; runs that already work go on.
func (s *slots) resize(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = size
	s.settle()
}

// free is how many offers the agent could start on at once.
func (s *slots) free() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.size-s.used-len(s.line))
}

// take waits for a free slot; the slot is given back by calling release, once.
func (s *slots) take(ctx context.Context) (release func(), err error) {
	turn := make(chan struct{})
	s.mu.Lock()
	s.line = append(s.line, turn)
	s.settle()
	s.mu.Unlock()
	select {
	case <-turn:
		return sync.OnceFunc(s.give), nil
	case <-ctx.Done():
		s.leave(turn)
		return nil, context.Cause(ctx)
	}
}

func (s *slots) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.settle()
}

// leave gives up a place in the line, or the slot where it came just now.
func (s *slots) leave(turn chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.line, turn); at >= 0 {
		s.line = slices.Delete(s.line, at, at+1)
	} else {
		s.used--
	}
	s.settle()
}

// settle hands free slots to those in line and says that something changed.
func (s *slots) settle() {
	for len(s.line) > 0 && s.used < s.size {
		close(s.line[0])
		s.line = s.line[1:]
		s.used++
	}
	nudge(s.changed)
}
