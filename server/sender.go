package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"rendermac/store"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	tryTime   = 15 * time.Second // for the whole exchange
	maxReply  = 64 << 10         // what is read of an answer's body, and of its headers
	maxReason = 300              // bytes
)

// sender makes one try of a webhook: signed, through no proxy, following no
// redirect, to no address that it may not reach.
type sender struct {
	dialer    *net.Dialer
	transport *http.Transport
	agent     string
	now       func() time.Time
}

func newSender(o Options) sender {
	dialer := &net.Dialer{Control: addressCheck{o.PrivateWebhooks}.control}
	return sender{
		dialer: dialer,
		transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableCompression: true, MaxResponseHeaderBytes: maxReply,
			DisableKeepAlives: true, // each try connects anew: a connection that the receiver is about to close would cost one
		},
		agent: "rendermac/" + cmp.Or(o.Version, "dev"),
		now:   o.Now,
	}
}

// sent is what came of a try; fault is empty where the receiver took it.
type sent struct {
	status     int // 0 where no answer came
	fault      string
	gone       bool
	retryAfter time.Duration
}

func (s *sender) send(ctx context.Context, w store.Delivery) sent {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	r, err := s.request(ctx, w)
	if err != nil {
		return sent{fault: err.Error()}
	}
	answer, err := s.transport.RoundTrip(r)
	if err != nil {
		return sent{fault: reason(err)}
	}
	defer answer.Body.Close()
	out := sent{status: answer.StatusCode, retryAfter: retryAfter(answer.Header.Get("Retry-After"), s.now())}
	_, err = io.CopyN(io.Discard, answer.Body, maxReply)
	switch {
	case out.status == http.StatusGone:
		out.gone, out.fault = true, "the receiver answered 410: it wants no more of this"
	case out.status >= 300 && out.status < 400:
		out.fault = fmt.Sprintf("the receiver answered %d, and a redirect is not followed: name the final address as webhook_url", out.status)
	case out.status < 200 || out.status >= 400:
		out.fault = fmt.Sprintf("the receiver answered %d: it must answer 2xx", out.status)
	case err != nil && !errors.Is(err, io.EOF):
		out.fault = reason(err)
	}
	return out
}

// request is the message of Standard Webhooks: the same id and body at each try,
// the timestamp of this one, a signature by each secret that counts.
func (s *sender) request(ctx context.Context, w store.Delivery) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, strings.NewReader(w.Body))
	if err != nil {
		return nil, errors.New("the address is no URL: submit the job with a webhook_url that is one")
	}
	r.URL.User = nil
	now := s.now()
	var signatures []string
	for _, secret := range w.Secrets {
		key, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("the account's webhook secret is not usable: make a new one")
		}
		signature, err := key.Sign(w.ID, now, []byte(w.Body))
		if err != nil {
			return nil, errors.New("the webhook could not be signed: make a new webhook secret")
		}
		signatures = append(signatures, signature)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	r.Header.Set(standardwebhooks.HeaderWebhookID, w.ID)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return r, nil
}

// reason says why no whole answer came. The transport's own errors name hosts
// and addresses, never the URL, which may hold a secret.
func reason(err error) string {
	var no *forbiddenAddress
	var slow net.Error
	switch {
	case errors.As(err, &no):
		return no.Error()
	case errors.As(err, &slow) && slow.Timeout():
		return fmt.Sprintf("no whole answer came within %s", tryTime)
	}
	text := strings.ToValidUTF8("the receiver could not be reached: "+err.Error(), "?")
	for len(text) > maxReason {
		_, last := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-last]
	}
	return text
}

// retryAfter reads that header: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return at.Sub(now)
	}
	return 0
}
