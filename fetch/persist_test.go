package fetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// store answers requests without a network, so that hours pass in a bubble.
type store func(*http.Request) (*http.Response, error)

func (s store) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

func patient(t *testing.T, bytes int64, s store) Options {
	return Options{
		Path: filepath.Join(t.TempDir(), "file"), Bytes: bytes, AtOnce: 1,
		URL:    func(context.Context) (string, http.Header, error) { return "http://store/object", nil, nil },
		Client: &http.Client{Transport: s},
		Retry:  Retry{Backoff: time.Second, Patience: 5 * time.Minute, Idle: time.Minute},
	}
}

func answer(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body)}
}

func TestPatienceEndsWhenNothingIsGained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := To(t.Context(), patient(t, 10, func(*http.Request) (*http.Response, error) { return answer(502, strings.NewReader("")), nil }))
		var refused *RefusedError
		if took := time.Since(began); !errors.As(err, &refused) || took < 5*time.Minute || took > 6*time.Minute {
			t.Fatalf("%v after %s", err, took)
		}
	})
}

func TestWhatIsGainedRenewsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := 0
		o := patient(t, 10, func(r *http.Request) (*http.Response, error) {
			time.Sleep(4 * time.Minute)
			at++
			if at == 1 {
				return answer(200, strings.NewReader("0")), nil
			}
			a := answer(206, strings.NewReader("0"))
			a.Header.Set("Content-Range", strings.Replace(r.Header.Get("Range"), "=", " ", 1)+"9/10")
			return a, nil
		})
		o.Retry.Idle = time.Hour
		began := time.Now()
		if err := To(t.Context(), o); err != nil || time.Since(began) < 40*time.Minute {
			t.Fatalf("%v after %s", err, time.Since(began))
		}
	})
}

func TestAConnectionThatStandsStillIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		began := time.Now()
		err := To(t.Context(), patient(t, 3, func(r *http.Request) (*http.Response, error) {
			if tries++; tries > 1 {
				return answer(200, strings.NewReader("abc")), nil
			}
			return answer(200, stuck{r.Context()}), nil
		}))
		if took := time.Since(began); err != nil || tries != 2 || took < time.Minute || took > 2*time.Minute {
			t.Fatalf("%v after %d tries and %s", err, tries, took)
		}
	})
}

// stuck is a body of which nothing comes.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

func TestTheStoreSaysWhenToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		began := time.Now()
		err := To(t.Context(), patient(t, 3, func(*http.Request) (*http.Response, error) {
			if tries++; tries > 1 {
				return answer(200, strings.NewReader("abc")), nil
			}
			a := answer(503, strings.NewReader("<Error><Code>SlowDown</Code></Error>"))
			a.Header.Set("Retry-After", "100")
			return a, nil
		}))
		if took := time.Since(began); err != nil || took < 100*time.Second {
			t.Fatalf("%v after %s", err, took)
		}
	})
}

func TestACallerThatLeavesIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("the user left")
		err := To(ctx, patient(t, 3, func(r *http.Request) (*http.Response, error) {
			cancel(left)
			return answer(200, stuck{r.Context()}), nil
		}))
		if !errors.Is(err, left) {
			t.Fatal(err)
		}
	})
}
