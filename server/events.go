package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
)

// streamed is an answer that writes itself: a stream, or a page.
type streamed struct {
	Body func(huma.Context)
	page *body[api.List[api.Event]]
}

func (s *streamed) seal(route string) {
	if s.page != nil {
		s.page.seal(route)
	}
}

// listEvents is the history, newest first, or a stream from now on.
func (s *Server) listEvents(ctx context.Context, c call, in *struct {
	Paging
	LastEventID string `header:"Last-Event-ID" doc:"of a stream: the id of the last event that arrived"`
},
) (*streamed, error) {
	var f store.EventFilter
	if !c.isAdmin() {
		f.AccountID = c.key.AccountID
	}
	if wantsStream(c.echo.Request()) {
		st, err := s.openStream(ctx, c, f, in.LastEventID)
		if err != nil {
			return nil, err
		}
		return st.answer(), nil
	}
	before, err := eventCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, left, err := s.o.DB.EventsBefore(ctx, f, before, in.Limit+1)
	answer := eventPage(list, in.Limit)
	if len(list) <= in.Limit && left > 0 { // short, and not the end
		cursor := strconv.FormatInt(left, 10)
		answer.page.Body.NextCursor = &cursor
	}
	return answer, err
}

// jobEvents is a job's story from its beginning, as a list or as a stream that
// ends with it.
func (s *Server) jobEvents(ctx context.Context, c call, in *struct {
	Paging
	ID          string `path:"id"`
	LastEventID string `header:"Last-Event-ID" doc:"of a stream: the id of the last event that arrived"`
},
) (*streamed, error) {
	j, err := s.visibleJob(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	f := store.EventFilter{JobID: j.ID}
	if wantsStream(c.echo.Request()) {
		st, err := s.openStream(ctx, c, f, in.LastEventID)
		if err != nil {
			return nil, err
		}
		st.over = j.Status.Terminal()
		return s.answerJob(ctx, st)
	}
	after, err := eventCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, _, err := s.o.DB.EventsAfter(ctx, f, after, in.Limit+1)
	return eventPage(list, in.Limit), err
}

// answerJob is a stream, or nothing where the job has ended and all of its
// events have arrived: 204 is what keeps an EventSource from coming back.
func (s *Server) answerJob(ctx context.Context, st *stream) (*streamed, error) {
	if st.over && len(st.opening) == 0 {
		left, _, err := s.o.DB.EventsAfter(ctx, st.filter, st.last, 1)
		if err != nil {
			return nil, err
		}
		if len(left) == 0 {
			return &streamed{Body: func(huma.Context) { _ = st.echo.NoContent(http.StatusNoContent) }}, nil
		}
	}
	return st.answer(), nil
}

func (st *stream) answer() *streamed {
	return &streamed{Body: func(ctx huma.Context) {
		err := st.serve(ctx.Context())
		if err == nil {
			_ = http.NewResponseController(st.echo.Response().Writer).SetWriteDeadline(time.Time{}) // the connection may serve on
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			st.server.o.Log.Info("a slow reader of events was dropped", "key", st.key.ID, "job", st.filter.JobID)
		} else if fence.CodeOf(err) != "" && ctx.Context().Err() == nil {
			st.server.o.Log.Warn("a stream of events ended: the database could not be read", "key", st.key.ID, "job", st.filter.JobID, "err", err)
		}
	}}
}

// openStream finds where a stream begins: behind the last event that arrived,
// else now, or at its job's beginning. An id that was never given, or from which
// events may be gone, begins like none, with an event that says so.
func (s *Server) openStream(ctx context.Context, c call, f store.EventFilter, given string) (*stream, error) {
	horizon, newest, err := s.o.DB.EventIDs(ctx)
	if err != nil {
		return nil, err
	}
	st := &stream{call: c, filter: f, begun: newest, woken: make(chan struct{}, 1), doubted: make(chan struct{}, 1)}
	if given != "" {
		id, err := strconv.ParseInt(given, 10, 64)
		if err == nil && id >= max(0, horizon-1) && id <= newest {
			st.last = id
			return st, nil
		}
	}
	if f.JobID == "" {
		st.last = newest
	}
	switch {
	case given != "":
		st.opening = eventText(api.Event{ID: &st.last, At: s.o.Now().UTC(), Type: api.EventReset, Data: json.RawMessage("{}")})
	case f.JobID == "": // an id without an event: where to go on if nothing else arrives
		st.opening = fmt.Appendf(nil, "id: %d\n\n", newest)
	}
	return st, nil
}

// wantsStream tells whether the client takes Server-Sent Events.
func wantsStream(r *http.Request) bool {
	for _, accepted := range r.Header.Values("Accept") {
		for _, kind := range strings.Split(accepted, ",") {
			if kind, _, err := mime.ParseMediaType(kind); err == nil && kind == api.EventStreamType {
				return true
			}
		}
	}
	return false
}

func eventCursor(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 {
		return 0, invalid(api.Fault{Location: "query.cursor", Message: "is not a next_cursor of this list"})
	}
	return id, nil
}
