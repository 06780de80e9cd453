package server

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"rendermac/api"
	"rendermac/store"
)

// ear hears a stream of events, block by block.
type ear struct {
	*httpServer
	response *http.Response
	lines    *bufio.Reader
	hang     context.CancelFunc
}

// block is what stands between two empty lines.
type block struct {
	id, kind, comment string
	api.Event
}

// dial opens a stream; the answer may be anything.
func (h *httpServer) ask(path, key string, headers ...string) *ear {
	h.Helper()
	ctx, hang := context.WithCancel(context.Background())
	h.Cleanup(hang)
	r, err := http.NewRequestWithContext(ctx, "GET", h.url+path, nil)
	if err != nil {
		h.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := h.web.Do(r)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { response.Body.Close() })
	return &ear{h, response, bufio.NewReader(response.Body), hang}
}

func (h *httpServer) listen(path, key string, headers ...string) *ear {
	h.Helper()
	e := h.ask(path, key, headers...)
	if kind := e.response.Header.Get("Content-Type"); e.response.StatusCode != 200 || kind != api.EventStreamType {
		h.Fatalf("%s: %d as %q", path, e.response.StatusCode, kind)
	}
	return e
}

// next is the next block; an error where the stream breaks off.
func (e *ear) next() (b block, err error) {
	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return b, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			return b, nil
		case name == "":
			b.comment = line
		case name == "id":
			b.id = value
		case name == "event":
			b.kind = value
		case name == "data":
			if err := json.Unmarshal([]byte(value), &b.Event); err != nil {
				return b, err
			}
		}
	}
}

func (e *ear) must() block {
	e.Helper()
	b, err := e.next()
	if err != nil {
		e.Fatalf("the stream broke off: %v", err)
	}
	if b.kind != b.Type || b.Event.ID != nil && b.id != strconv.FormatInt(*b.Event.ID, 10) {
		e.Fatalf("id %q, event %q, but data %+v", b.id, b.kind, b.Event)
	}
	return b
}

// until hears events up to one of this type.
func (e *ear) until(kind string) (heard []block) {
	e.Helper()
	for {
		b := e.must()
		if heard = append(heard, b); b.kind == kind {
			return heard
		}
	}
}

// ends fails the test unless nothing more comes and the stream ends in order.
func (e *ear) ends() {
	e.Helper()
	if b, err := e.next(); err != io.EOF {
		e.Fatalf("got %+v and %v, not the stream's end", b, err)
	}
}

func kinds(heard []block) string {
	var all []string
	for _, b := range heard {
		all = append(all, b.kind)
	}
	return strings.Join(all, " ")
}

// history is the table, as the store gives it.
func (h *httpServer) history(f store.EventFilter) (ids []int64) {
	h.Helper()
	for after := int64(0); ; {
		list, upTo, err := h.db.EventsAfter(context.Background(), f, after, 1000)
		if err != nil {
			h.Fatal(err)
		}
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		if upTo <= after {
			return ids
		}
		after = upTo
	}
}

// cut hears a stream whose connection breaks after a random number of bytes,
// again and again, until it has heard something at or past the id that comes
// last; something is still to come once that is known.
func (h *httpServer) cut(random *rand.Rand, path, key string, from string, last <-chan int64) (ids []int64) {
	h.Helper()
	until := int64(-1)
	for {
		e := h.listen(path, key, "Last-Event-ID", from)
		defer e.hang()
		e.lines = bufio.NewReader(io.LimitReader(e.response.Body, random.Int64N(4000)))
		for {
			b, err := e.next()
			if err != nil {
				break
			}
			if b.Event.ID != nil {
				from, ids = b.id, append(ids, *b.Event.ID)
			}
			select {
			case until = <-last:
			default:
			}
			if n := len(ids); until >= 0 && n > 0 && ids[n-1] >= until {
				return ids
			}
		}
		e.hang()
	}
}

func seeded(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// mustRaw opens the file that no store has open yet.
func mustRaw(t testing.TB, path string) *sql.DB {
	t.Helper()
	raw, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
