package server

import (
	"sync"
	"time"
)

// glance is an answer that serves everybody for a while: who asks meanwhile waits
// for the one that looks. A failure is kept as well, so that what fails slowly is
// not tried by each in turn.
type glance[T any] struct {
	mu     sync.Mutex
	looked bool
	at     time.Duration // on a clock that nobody sets
	value  T
	err    error
}

func (k *glance[T]) get(mono func() time.Duration, age time.Duration, look func() (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.looked || mono()-k.at >= age {
		k.value, k.err = look()
		k.looked, k.at = true, mono()
	}
	return k.value, k.err
}
