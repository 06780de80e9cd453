package agent

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// clock is the time since some instant. It also runs while the machine sleeps,
// which Go's own monotonic clock and timers do not: a lease runs out asleep (F17).
type clock func() time.Duration

func machineClock() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(sleepingClock, &now); err != nil {
		panic("read the machine's clock: " + err.Error()) // it exists on every system this builds for
	}
	return time.Duration(now.Nano())
}

// glance is how long to wait before the clock is looked at again: timers stand
// still while the machine sleeps, so no wait for an instant is longer.
const glance = time.Second

// sleep waits until d has passed or ctx ends.
func (now clock) sleep(ctx context.Context, d time.Duration) error {
	for end := now() + d; ; {
		left := end - now()
		if left <= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(min(left, glance)):
		}
	}
}
