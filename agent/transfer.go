package agent

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"rendermac/fetch"
)

var (
	errIdle      = errors.New("the connection stands still") // ends a try that moves nothing
	errNoAddress = errors.New("the server gave an address that is none")
)

// leastTries come before patience is looked at: one slow try may outlast it.
const leastTries = 5

// transfer is one part on its way, through as many tries as it takes.
type transfer struct {
	a      *agent
	moving func(n int64) // called as bytes move
	feed   func()        // keeps the try that runs now from being ended as idle
}

// persist tries until it works or is hopeless, or until the agent's patience has
// ended: a 502, a timeout or a dropped connection means try again (F17).
func (t *transfer) persist(ctx context.Context, try func(context.Context) error) error {
	began := t.a.now()
	for tries := 1; ; tries++ {
		err := t.once(ctx, try)
		if err == nil || ctx.Err() != nil || errors.As(err, new(fetch.Hopeless)) {
			return err
		}
		if tries >= leastTries && t.a.now()-began > t.a.patience {
			return err
		}
		t.a.log.Info("transfer interrupted, trying again", "error", err)
		wait := fullJitter(t.a.backoff, tries)
		if said := (*fetch.RefusedError)(nil); errors.As(err, &said) {
			wait = max(wait, said.RetryAfter)
		}
		if err := t.a.now.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// once ends a try that moves no byte for a fifth of the patience.
func (t *transfer) once(ctx context.Context, try func(context.Context) error) error {
	ctx, feed, stop := watchdog(ctx, t.a.patience/5, errIdle)
	defer stop()
	t.feed = feed
	err := try(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errIdle) {
		return errIdle
	}
	return err
}

// body is in, whose bytes count as moved.
func (t *transfer) body(in io.Reader) io.Reader { return counted{in, t.feed, t.moving} }

type counted struct {
	io.Reader
	feed   func()
	moving func(n int64)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.feed()
	c.moving(int64(n))
	return n, err
}

// webClient follows no redirect: what is signed is signed for one address.
func webClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 2 * atOnce
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// do sends one request of a signed URL. The device token stays here.
func (a *agent) do(ctx context.Context, method, address string, body io.Reader, size int64, header map[string]string) (*http.Response, error) {
	at, err := a.base.Parse(address)
	if err != nil {
		return nil, fetch.Hopeless{Err: errNoAddress}
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, fetch.Hopeless{Err: errNoAddress}
	}
	req.ContentLength = size
	for name, value := range header {
		req.Header.Set(name, value)
	}
	answer, err := a.web.Do(req)
	if err != nil {
		return nil, withoutURL(err)
	}
	return answer, nil
}

// withoutURL keeps a signed URL out of logs and messages.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
