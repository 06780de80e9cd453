package api

import (
	"bytes"
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	maxAnswer    = 64 << 20 // bounds what is read of one JSON answer
	firstPause   = 500 * time.Millisecond
	longestPause = 5 * time.Minute // however long a server asks for
)

// Client speaks to one server with one API key. Its errors are *Error where the
// server said what is wrong.
type Client struct {
	url, key, agent string
	api             *http.Client // follows no redirect: the key goes to the server alone
	blobs           *http.Client // never bears the key
	backoff         func(try int) time.Duration
	backoffFrom     time.Duration // where a download's begins
	stall           time.Duration // a part that stands still for so long is sent again
	patience        time.Duration // how long an upload goes on without gaining anything
	every           time.Duration // how often Wait looks at first; later less often
	heard           atomic.Bool   // the server has answered before: it is waited for if it goes away
}

// NewClient is a client of the server at url; key may be "" where a route needs none.
func NewClient(url, key, version string) *Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = partsAtOnce
	return &Client{
		url: url, key: key, agent: "rendermac/" + version,
		api: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		blobs:    &http.Client{Transport: transport},
		backoff:  jitter,
		stall:    time.Minute,
		patience: 5 * time.Minute,
		every:    500 * time.Millisecond,
	}
}

// jitter is a full-jitter exponential backoff from 0.5 s to 30 s.
func jitter(try int) time.Duration {
	return rand.N(min(30*time.Second, firstPause<<min(try, 10)))
}

// Services are what can be asked for.
func (c *Client) Services(ctx context.Context) ([]Service, error) {
	return all[Service](ctx, c, "/v1/services")
}

// CreatePairing makes a pairing code.
func (c *Client) CreatePairing(ctx context.Context, r PairingRequest) (*Pairing, error) {
	return call[Pairing](ctx, c, http.MethodPost, "/v1/pairings", r)
}

// Pair redeems a pairing code.
func (c *Client) Pair(ctx context.Context, r PairRequest) (*PairAnswer, error) {
	return call[PairAnswer](ctx, c, http.MethodPost, "/v1/provider/pair", r)
}

// all gathers every page of a list; the path may have a filter.
func all[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	var items []T
	path, filter, _ := strings.Cut(path, "?")
	q, err := url.ParseQuery(filter)
	if err != nil {
		return nil, err
	}
	q.Set("limit", "500")
	for {
		page, err := call[List[T]](ctx, c, http.MethodGet, path+"?"+q.Encode(), nil)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if page.NextCursor == nil {
			return items, nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

// once is a POST that is carried out once, however often it is sent: its
// Idempotency-Key stays the same over all tries.
func once[T any](ctx context.Context, c *Client, path string, body any) (*T, error) {
	key := http.Header{"Idempotency-Key": {crand.Text()}}
	return again(ctx, c, func() (*T, error) { return call[T](ctx, c, http.MethodPost, path, body, key) })
}

// call is one request with the key, and its JSON answer.
func call[T any](ctx context.Context, c *Client, method, path string, body any, headers ...http.Header) (*T, error) {
	response, err := c.request(ctx, method, path, body, headers...)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return nil, problem(response)
	}
	answer := new(T)
	if response.StatusCode == http.StatusNoContent {
		return answer, nil
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil { // the answer broke off: it may be asked for again
		return nil, c.unreachable(ctx, err)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return nil, fmt.Errorf("what answers at %s is no RenderMac server: %w", c.url, err)
	}
	return answer, nil
}

func (c *Client) request(ctx context.Context, method, path string, body any, headers ...http.Header) (*http.Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	c.identify(request)
	for _, h := range headers {
		maps.Copy(request.Header, h)
	}
	response, err := c.api.Do(request)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	c.heard.Store(true)
	return response, nil
}

// identify says who asks.
func (c *Client) identify(request *http.Request) {
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	request.Header.Set("User-Agent", c.agent)
}

// Unreachable is that no answer came, so that trying again may help.
type Unreachable struct {
	URL   string
	Cause error
}

func (u *Unreachable) Error() string {
	return fmt.Sprintf("no server answers at %s (%v): start it, or say where it is with --url", u.URL, u.Cause)
}

func (u *Unreachable) Unwrap() error { return u.Cause }

// unreachable says so without the address that was asked: it may be signed.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var in *url.Error
	if errors.As(err, &in) {
		err = in.Err
	}
	return &Unreachable{c.url, err}
}

// problem is the error that a response is.
func problem(response *http.Response) error {
	e := &Error{}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // what came is enough
	switch {
	case kind == ProblemType && json.Unmarshal(text, e) == nil:
	case strings.HasSuffix(kind, "/xml"):
		e = storeError(response.Status, text)
	default:
		e = &Error{Detail: "the server answered " + response.Status}
	}
	e.Status = response.StatusCode
	if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n > 0 {
		e.RetryAfter = min(time.Duration(n)*time.Second, longestPause)
	}
	e.Title = cmp.Or(e.Title, http.StatusText(e.Status))
	return e
}

// storeError is what an S3 store says. The rest of its text is not for showing:
// it may repeat the signature.
func storeError(status string, text []byte) *Error {
	var said struct{ Code, Message string }
	_ = xml.Unmarshal(text, &said) // what cannot be read leaves the status
	return &Error{Code: said.Code, Detail: strings.TrimSuffix("the store answered "+status+": "+cmp.Or(said.Message, said.Code), ": ")}
}
