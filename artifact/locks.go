package artifact

import (
	"context"
	"sync"
)

// locks makes the verbs on one key follow one another; other keys go on.
type locks struct {
	mu   sync.Mutex
	busy map[string]chan struct{} // keys on which a verb is at work
}

func (l *locks) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		l.mu.Lock()
		other, busy := l.busy[key]
		if !busy {
			return l.take(key), nil
		}
		l.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take ends the caller's hold on mu.
func (l *locks) take(key string) (unlock func()) {
	defer l.mu.Unlock()
	if l.busy == nil {
		l.busy = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	l.busy[key] = mine
	return func() {
		l.mu.Lock()
		delete(l.busy, key)
		l.mu.Unlock()
		close(mine)
	}
}
