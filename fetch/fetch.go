// Package fetch downloads an object of known length from a signed URL into a
// file: by ranges, several at once, and so that neither a broken connection nor
// a killed process has more than the ranges in flight fetched again.
package fetch

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"
)

// rangeBytes is what one request asks for where several run at once, and what a
// killed process loses of each.
const rangeBytes = 16 << 20

// wholeTries is how often an object whose digest is wrong is fetched anew.
const wholeTries = 3

// Options is one object and where it goes.
type Options struct {
	Path   string // the file; beside it lies Path + ".ranges" until it is whole
	Bytes  int64
	SHA256 string // "" is not known: then the length decides, and nothing is resumed
	AtOnce int    // requests at once; 1 reads in order

	// URL is asked at the start, and again when what it said is refused with 403.
	// An error ends the fetch if it is Hopeless, and is tried again if not.
	URL    func(context.Context) (string, http.Header, error)
	Client *http.Client // no redirect is followed: what is signed is signed for one address
	Retry  Retry

	// Resumed, if set, hears at the start how much an earlier process has left, if
	// it has left anything.
	Resumed func(int64)
	// Progress hears of bytes that are there now, those of an earlier process
	// first, or that are there no longer (below 0). One call at a time.
	Progress func(int64)
	Log      *slog.Logger

	rangeBytes int64 // tests have smaller ones
}

// Retry is how long to go on trying.
type Retry struct {
	Backoff  time.Duration // before the second try; doubles, with full jitter
	Patience time.Duration // how long nothing may be gained
	Idle     time.Duration // how long one request may move no byte

	// Now counts patience and Sleep waits; nil is Go's own clock, which stands
	// still while the machine sleeps.
	Now   func() time.Duration
	Sleep func(context.Context, time.Duration) error
}

// To fetches the object into the file. What it leaves behind on an error is
// taken up by the next call, in this process or another; only where the digest
// stays wrong does it leave nothing. A file that is already there and whole is
// read and not fetched.
func To(ctx context.Context, o Options) error {
	d, err := open(o.withDefaults())
	if err != nil {
		return err
	}
	defer d.file.Close()
	for tries := 1; ; {
		err := d.whole(ctx)
		switch {
		case err == nil:
			return d.journal.remove()
		case errors.Is(err, errNoRanges) && !d.inOrder:
			d.inOrder = true
		case errors.Is(err, ErrDigest) && tries == wholeTries:
			return errors.Join(err, d.forget())
		case errors.Is(err, ErrDigest):
			tries++
			if err := d.anew(); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (o Options) withDefaults() Options {
	web := *o.Client
	web.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	o.Client = &web
	if o.rangeBytes == 0 {
		o.rangeBytes = rangeBytes
	}
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Retry.Now == nil {
		began := time.Now()
		o.Retry.Now = func() time.Duration { return time.Since(began) }
	}
	if o.Retry.Sleep == nil {
		o.Retry.Sleep = sleep
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// fullJitter is a random wait below first × 2^n, at most half a minute.
func fullJitter(first time.Duration, n int) time.Duration {
	ceiling := min(first<<min(n, 16), 30*time.Second)
	return rand.N(max(ceiling, 1)) + 1
}
