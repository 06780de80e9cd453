package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"rendermac/api"
	"rendermac/store"

	"github.com/labstack/echo/v4"
)

const (
	streamBeat = 15 * time.Second // a comment, so that what stands in between keeps the connection
	streamGap  = 50 * time.Millisecond
	streamPage = 200
	replays    = 2 // pages read for streams at once
)

// stream is one reader of Server-Sent Events.
type stream struct {
	call
	filter  store.EventFilter
	opening []byte // what goes before the events
	begun   int64  // the newest event as the stream was opened
	over    bool   // the job had ended by then
	woken   chan struct{}
	doubted chan struct{} // a key or a session has ended: perhaps this one's

	last int64 // what is wanted of the events up to this id has been sent; the feed's lock guards it
	seen int64 // the same of the feed's progress
}

func (s *stream) wants(n notice) bool {
	return (s.filter.AccountID == "" || s.filter.AccountID == n.account) && (s.filter.JobID == "" || s.filter.JobID == n.job)
}

// serve sends what has been and what comes, until the job has ended, the reader
// is gone, too slow or not allowed any more, or the server stops. No read of the
// database is open while something is sent.
func (s *stream) serve(ctx context.Context) error {
	f := s.server.feed
	defer f.join(s)()
	s.open()
	if s.isRefused() { // its key has ended since it was looked at, before this stream could be told
		return nil
	}
	ended, err := false, s.send(s.opening)
	for err == nil && !ended && s.last < s.begun && !f.isClosed() {
		ended, err = s.sendPage(ctx)
	}
	if ended || s.over || err != nil {
		return err
	}
	return s.follow(ctx)
}

// follow sends at once what comes after a pause, and what comes fast in a few
// large pieces: many streams would otherwise take the time that leases need.
func (s *stream) follow(ctx context.Context) error {
	f := s.server.feed
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	gap := time.NewTimer(0)
	defer gap.Stop()
	var woken chan struct{} // s.woken, but in a gap
	for {
		var ended bool
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-f.closed:
			return nil
		case <-gap.C:
			woken = s.woken
		case <-woken:
			ended, err = s.sendNews(ctx)
			woken = nil
			gap.Reset(streamGap)
		case <-beat.C:
			ended, err = s.beat()
		case <-s.doubted:
			ended = s.isRefused()
		}
		if ended || err != nil {
			return err
		}
	}
}

// open sends the head, with what keeps proxies from collecting the events.
func (s *stream) open() {
	h := s.echo.Response().Header()
	h.Set(echo.HeaderContentType, api.EventStreamType)
	h.Set("X-Accel-Buffering", "no")
	s.echo.Response().WriteHeader(http.StatusOK)
}

// sendNews sends what the feed has, after what the database has where the stream
// has fallen behind the feed.
func (s *stream) sendNews(ctx context.Context) (ended bool, err error) {
	for !s.server.feed.isClosed() {
		news, behind := s.server.feed.take(s)
		if !behind {
			return s.sendAll(news)
		}
		if ended, err = s.sendPage(ctx); ended || err != nil {
			return ended, err
		}
	}
	return false, nil
}

func (s *stream) sendPage(ctx context.Context) (ended bool, err error) {
	events, upTo, err := s.readPage(ctx)
	if err != nil {
		return false, err
	}
	s.server.feed.reach(s, upTo)
	news := make([]notice, len(events))
	for i, e := range events {
		news[i] = noticeOf(e)
	}
	return s.sendAll(news)
}

// readPage waits for its turn: hundreds of streams that come back at once take
// two of the readers, and leave the others to whoever submits and lists.
func (s *stream) readPage(ctx context.Context) (events []store.Event, upTo int64, err error) {
	f := s.server.feed
	select {
	case f.replays <- struct{}{}:
		defer func() { <-f.replays }()
	case <-f.closed:
		return nil, s.last, nil
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	return s.server.o.DB.EventsAfter(ctx, s.filter, s.last, streamPage)
}

// sendAll ends with the event that ends the stream's job.
func (s *stream) sendAll(news []notice) (ended bool, err error) {
	var text bytes.Buffer
	for _, n := range news {
		text.Write(n.text)
		if ended = n.ends && s.filter.JobID != ""; ended {
			break
		}
	}
	if text.Len() == 0 {
		return false, nil
	}
	return ended, s.send(text.Bytes())
}

// beat says that the stream is alive, and ends it with its key or session.
func (s *stream) beat() (ended bool, err error) {
	if s.isRefused() {
		return true, nil
	}
	return false, s.send([]byte(":\n\n"))
}

// isRefused tells whether its key or session has ended; a database that cannot be
// read just now says nothing of that.
func (s *stream) isRefused() bool {
	_, _, err := s.server.authenticate(s.echo)
	var no *refusal
	return errors.As(err, &no)
}

// send drops a reader that takes nothing for a while.
func (s *stream) send(text []byte) error {
	w := s.echo.Response().Writer
	conn := http.NewResponseController(w)
	if err := conn.SetWriteDeadline(time.Now().Add(s.server.feed.stall)); err != nil {
		return fmt.Errorf("bound a stream: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return conn.Flush()
}
