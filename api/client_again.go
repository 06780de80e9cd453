package api

import (
	"context"
	"errors"
	"net/http"
	"time"
)

const partTries = 8

// again repeats what may be repeated while its errors are passing ones. A server
// that has never answered is not waited for: its address may be wrong.
func again[T any](ctx context.Context, c *Client, do func() (*T, error)) (*T, error) {
	for try := 0; ; try++ {
		answer, err := do()
		if err == nil || !passing(err) || try == partTries-1 || !c.heard.Load() {
			return answer, err
		}
		if err := c.pause(ctx, try, err); err != nil {
			return nil, err
		}
	}
}

// pause waits before the next try, at least for as long as the server asked for.
func (c *Client) pause(ctx context.Context, try int, err error) error {
	wait := c.backoff(try)
	var e *Error
	if errors.As(err, &e) {
		wait = max(wait, e.RetryAfter)
	}
	return sleep(ctx, wait)
}

// passing tells whether the same request may succeed later.
func passing(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		switch e.Status {
		case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
			http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return true
		}
	}
	var silent *Unreachable
	return errors.As(err, &silent)
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

func hasStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
