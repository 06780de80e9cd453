package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// maxEvent bounds a line of a stream, in bytes.
const maxEvent = 1 << 20

// errNoStream is that something answers, but not with a stream.
var errNoStream = errors.New("no stream of events comes from there: a server of before, or a proxy that holds streams back")

// Events hands over what happens, each stored event once and in order, through
// lost connections and a server that restarts. With a job's id it begins with
// the job's first event and returns nil after its last; without, it begins now
// and goes on until ctx or see ends it. After a reset events may be missing.
func (c *Client) Events(ctx context.Context, jobID string, see func(*Event) error) error {
	f := &follower{client: c, path: "/v1/events", see: see}
	if jobID != "" {
		f.path = "/v1/jobs/" + url.PathEscape(jobID) + "/events"
	}
	heard := time.Now()
	for try := 0; ; try++ {
		came, err := f.once(ctx, jobID != "")
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if came {
			heard, try = time.Now(), 0
		}
		if err == nil || !passing(err) || time.Since(heard) > patience {
			return err
		}
		if err := sleep(ctx, c.backoff(try)); err != nil {
			return err
		}
	}
}

// follower is a stream across its connections.
type follower struct {
	client *Client
	path   string
	see    func(*Event) error
	last   string // the id to go on behind; "" at first
	seen   int64  // the same as a number
}

// once follows one connection to its end. Unreachable is that it broke, nil that
// the story is over.
func (f *follower) once(ctx context.Context, ends bool) (came bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hush := time.AfterFunc(f.client.stall, cancel) // the server says something every 15 s
	defer hush.Stop()
	response, err := f.open(ctx)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	var b eventBlock
	for lines.Scan() {
		hush.Reset(f.client.stall)
		came = true
		if !b.add(lines.Bytes()) {
			continue
		}
		over, err := f.dispatch(&b)
		if err != nil || over && ends {
			return came, err
		}
		b = eventBlock{}
	}
	if response.StatusCode == http.StatusNoContent {
		return came, nil
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return came, lines.Err()
	}
	err = lines.Err()
	if err == nil {
		err = io.EOF
	}
	return came, &Unreachable{f.client.url, err}
}

func (f *follower) open(ctx context.Context) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.client.url+f.path, nil)
	if err != nil {
		return nil, err
	}
	f.client.identify(request)
	request.Header.Set("Accept", EventStreamType)
	if f.last != "" {
		request.Header.Set("Last-Event-ID", f.last)
	}
	response, err := f.client.api.Do(request)
	if err != nil {
		var in *url.Error
		if errors.As(err, &in) {
			err = in.Err
		}
		return nil, &Unreachable{f.client.url, err}
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode == http.StatusNoContent:
	case response.StatusCode != http.StatusOK:
		err = problem(response)
	case kind != EventStreamType:
		err = errNoStream
	}
	if err != nil {
		response.Body.Close()
	}
	return response, err
}

// dispatch hands a whole event over, and tells whether its job ends with it.
func (f *follower) dispatch(b *eventBlock) (over bool, err error) {
	id, noted := b.number()
	e := &Event{}
	switch {
	case b.data == nil:
	case json.Unmarshal(b.data, e) != nil:
		return false, fmt.Errorf("what answers at %s is no RenderMac server: an event is not JSON", f.client.url)
	case noted && e.Type != EventReset && id <= f.seen: // once is enough
		return false, nil
	default:
		if err := f.see(e); err != nil {
			return false, err
		}
	}
	if noted {
		f.last, f.seen = b.id, id
	}
	return e.EndsJob(), nil
}

// eventBlock is what has come since the last empty line.
type eventBlock struct {
	id   string
	data []byte
}

// add takes a line; it is true at the block's end. The event's type stands in
// its data, too.
func (b *eventBlock) add(line []byte) (whole bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "id":
		b.id = string(value)
	case "data":
		if b.data != nil {
			b.data = append(b.data, '\n')
		}
		b.data = append(b.data, value...)
	}
	return len(line) == 0
}

func (b *eventBlock) number() (id int64, ok bool) {
	id, err := strconv.ParseInt(b.id, 10, 64)
	return id, err == nil
}
