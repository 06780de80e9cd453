package agent

import (
	"context"
	"time"
)

// watchdog ends the context with cause when feed has not been called for limit.
func watchdog(parent context.Context, limit time.Duration, cause error) (ctx context.Context, feed, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	timer := time.AfterFunc(limit, func() { cancel(cause) })
	feed = func() { timer.Reset(limit) }
	stop = func() {
		timer.Stop()
		cancel(nil)
	}
	return ctx, feed, stop
}
