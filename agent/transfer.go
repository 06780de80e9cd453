package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// errIdle ends a try that moves nothing.
var errIdle = errors.New("the connection stands still")

// hopeless is an error that trying again would not change.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

// leastTries come before patience is looked at: one slow try may outlast it.
const leastTries = 5

// transfer is one input or one part on its way, through as many tries as it takes.
type transfer struct {
	a      *agent
	gained int64         // bytes that no later try has to move again
	moving func(n int64) // called as bytes move
	feed   func()        // keeps the try that runs now from being ended as idle
}

// persist tries until it works or is hopeless, or until nothing has been gained
// for as long as the agent's patience lasts: a 502, a timeout or a dropped
// connection means try again (F17).
func (t *transfer) persist(ctx context.Context, try func(context.Context) error) error {
	var began time.Duration
	before := t.gained
	for tries := 1; ; tries++ {
		err := t.once(ctx, try)
		if err == nil || ctx.Err() != nil || errors.As(err, new(hopeless)) {
			return err
		}
		if t.gained > before || tries == 1 {
			began, before, tries = t.a.now(), t.gained, 1
		}
		if tries >= leastTries && t.a.now()-began > t.a.patience {
			return err
		}
		t.a.log.Info("transfer interrupted, trying again", "error", err)
		if err := t.a.now.sleep(ctx, fullJitter(t.a.backoff, tries)); err != nil {
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
		return nil, hopeless{errors.New("the server gave an address that is none")}
	}
	req, err := http.NewRequestWithContext(ctx, method, at.String(), body)
	if err != nil {
		return nil, hopeless{errors.New("the server gave an address that is none")}
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

// problem is what a refused request says of itself.
type problem struct {
	Status int    `json:"-"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

func (p *problem) Error() string {
	if p.Detail == "" {
		return fmt.Sprintf("the store answered %d", p.Status)
	}
	return fmt.Sprintf("the store answered %d: %s", p.Status, clip(p.Detail, 200))
}

func problemOf(answer *http.Response) *problem {
	p := &problem{}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	json.Unmarshal(text, p) // a proxy answers in words of its own
	p.Status = answer.StatusCode
	return p
}
