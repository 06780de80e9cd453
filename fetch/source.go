package fetch

import (
	"context"
	"net/http"
	"sync"
)

// signed is where the object is, until that runs out.
type signed struct {
	url    string
	header http.Header
}

// source is asked for one URL at a time, however many requests were refused.
type source struct {
	mu  sync.Mutex
	now *signed
}

func (s *source) ask(ctx context.Context, fresh func(context.Context) (string, http.Header, error)) (*signed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		url, header, err := fresh(ctx)
		if err != nil {
			return nil, err
		}
		s.now = &signed{url, header}
	}
	return s.now, nil
}

func (s *source) expired(was *signed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == was {
		s.now = nil
	}
}
