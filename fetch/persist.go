package fetch

import (
	"context"
	"errors"
	"time"
)

// leastTries come before patience is looked at: one slow try may outlast it.
const leastTries = 5

// persist tries a span until it is there or hopeless, or until nobody has gained
// anything for as long as the patience lasts.
func (d *download) persist(ctx context.Context, s *span) error {
	var began time.Duration
	var before int64
	for tries := 1; ; tries++ {
		err := d.once(ctx, s)
		if err == nil || errors.As(err, new(Hopeless)) {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if gained := d.gains(); gained > before || tries == 1 {
			began, before, tries = d.o.Retry.Now(), gained, 1
		}
		if tries >= leastTries && d.o.Retry.Now()-began > d.o.Retry.Patience {
			return err
		}
		d.o.Log.Info("transfer interrupted, trying again", "error", err)
		wait := fullJitter(d.o.Retry.Backoff, tries)
		if refused := (*RefusedError)(nil); errors.As(err, &refused) {
			wait = max(wait, refused.RetryAfter)
		}
		if err := d.o.Retry.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once ends a try that moves no byte for too long.
func (d *download) once(parent context.Context, s *span) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	watch := time.AfterFunc(d.o.Retry.Idle, func() { cancel(errIdle) })
	defer watch.Stop()
	err := d.try(ctx, s, func() { watch.Reset(d.o.Retry.Idle) })
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}
