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

// forget makes whoever asks next look again, for something has changed.
func (k *glance[T]) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.looked = false
}

// glances holds a look for each account that has asked; "" is everybody's.
type glances[T any] struct {
	mu    sync.Mutex
	looks map[string]*glance[T]
}

func (c *glances[T]) of(account string) *glance[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks == nil {
		c.looks = map[string]*glance[T]{}
	}
	if c.looks[account] == nil {
		c.looks[account] = new(glance[T])
	}
	return c.looks[account]
}
