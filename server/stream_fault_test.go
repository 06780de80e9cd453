package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/agentproto"
	"rendermac/api"
	"rendermac/store"
	"rendermac/store/storetest"
)

// streams is how many are open.
func (h *httpServer) streams() int {
	h.srv.feed.mu.Lock()
	defer h.srv.feed.mu.Unlock()
	return len(h.srv.feed.streams)
}

// comes waits for what has no signal of its own.
func (h *httpServer) comes(what string, is func() bool) {
	h.Helper()
	for deadline := time.Now().Add(hearing); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatalf("it never came that %s", what)
		}
	}
}

// A reader that takes nothing is dropped, and the others hear all the same.
func TestEvents_ASlowReaderIsDropped(t *testing.T) {
	h := mustStudio(t)
	h.srv.feed.stall = 50 * time.Millisecond
	narrow := httptest.NewUnstartedServer(h.srv.Handler())
	narrow.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(4 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	narrow.Start()
	defer narrow.Close()
	slow, err := net.Dial("tcp", narrow.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if err := slow.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(slow, "GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", h.admin)
	quick := h.listen("/v1/events", h.admin)
	h.comes("both listen", func() bool { return h.streams() == 2 })
	upload := storetest.MustUpload(t, h.db, h.account)
	ids := []string{}
	for h.streams() == 2 {
		ids = append(ids, storetest.MustSubmit(t, h.db, storetest.Job(h.account, upload)))
	}
	quick.must()
	for _, id := range ids {
		if b := quick.must(); *b.JobID != id {
			t.Fatalf("heard of %s, not %s", *b.JobID, id)
		}
	}
	if n := h.streams(); n != 1 {
		t.Errorf("%d streams are left", n)
	}
	h.comes("the log says so", func() bool { return strings.Contains(h.log.String(), "a slow reader of events was dropped") })
}

// again is a server whose next run, on the same files, answers at the same address.
type again struct {
	*httpServer
	stored store.Options
	wired  Options
	now    atomic.Pointer[Server]
}

func mustAgain(t *testing.T) *again {
	a := &again{}
	a.httpServer = mustServeOf(t, func(o *store.Options) { a.stored = *o }, func(o *Options) { a.wired = *o })
	a.now.Store(a.srv)
	if err := a.srv.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.now.Load().Handler().ServeHTTP(w, r) }))
	t.Cleanup(front.Close)
	a.url = front.URL
	return a
}

// restart lets something happen between the two runs, and before the second is
// reached.
func (a *again) restart(between, before func()) {
	a.Helper()
	a.srv.Stop()
	between()
	if err := a.db.Close(); err != nil {
		a.Fatal(err)
	}
	before()
	a.db = storetest.MustOpen(a, a.stored)
	a.wired.DB = a.db
	var err error
	if a.srv, err = New(a.wired); err != nil {
		a.Fatal(err)
	}
	a.mustStart()
	a.now.Store(a.srv)
}

// A server that stops ends its streams in order; with the next one they go on
// where they were.
func TestEvents_ARestartLosesNothing(t *testing.T) {
	h := mustAgain(t)
	upload := storetest.MustUpload(t, h.db, h.account)
	submit := func() string { return storetest.MustSubmit(t, h.db, storetest.Job(h.account, upload)) }
	heard, client := make(chan string), api.NewClient(h.url, h.admin, "test")
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go client.Events(ctx, "", func(e *api.Event) error { heard <- *e.JobID; return nil })
	h.comes("the client listens", func() bool { return h.streams() == 1 })
	one := submit()
	if got := <-heard; got != one {
		t.Fatalf("heard of %s", got)
	}
	quiet := h.listen("/v1/events", h.admin)
	quiet.must()
	var want []string
	h.restart(func() {
		quiet.ends()
		want = append(want, submit(), submit())
	}, func() {})
	want = append(want, submit())
	for _, id := range want {
		if got := <-heard; got != id {
			t.Fatalf("heard of %s, not %s", got, id)
		}
	}
}

// A job whose events are gone has a stream that ends.
func TestEvents_OfAJobOfLongAgo(t *testing.T) {
	h := mustAgain(t)
	old := h.mustSubmit(h.submit)
	h.post("/v1/jobs/"+old.ID+"/cancel", h.submit, nil).is(202)
	h.mustSubmit(h.submit)
	newest := strconv.FormatInt(h.newestEvent(), 10)
	h.restart(func() {}, func() {
		raw := mustRaw(t, h.stored.Path)
		defer raw.Close()
		h.mustExec(raw, `INSERT INTO settings (name, value) VALUES ('events_horizon', ?)`, newest)
		h.mustExec(raw, `DELETE FROM events WHERE job_id = ?`, old.ID)
	})
	path := "/v1/jobs/" + old.ID + "/events"
	if got := h.ask(path, h.read).response.StatusCode; got != 204 {
		t.Errorf("nothing is left to be told: %d", got)
	}
	e := h.listen(path, h.read, "Last-Event-ID", "1")
	if got := e.must(); got.kind != "reset" || got.id != "0" {
		t.Errorf("%+v", got)
	}
	e.ends()
}

func TestEvents_ACommentEvery15Seconds(t *testing.T) {
	inBubble(t, func(b *bubble) {
		e := b.listen("/v1/events", b.admin)
		start := time.Now()
		e.must()
		for i := range 5 {
			if i == 3 { // an event changes nothing of it
				time.Sleep(7 * time.Second)
				b.mustJob()
				e.until("job.queued")
			}
			if got := e.must(); got.comment == "" || got.kind != "" || got.id != "" || time.Since(start) != time.Duration(i+1)*streamBeat {
				t.Errorf("after %v: %+v", time.Since(start), got)
			}
		}
		e.hang()
		synctest.Wait()
		if n := b.streams(); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

func TestEvents_AStreamEndsWithItsKey(t *testing.T) {
	inBubble(t, func(b *bubble) {
		ours, theirs := b.listen("/v1/events", b.read), b.listen("/v1/events", b.otherAccountSubmit)
		ours.must()
		theirs.must()
		time.Sleep(time.Second)
		b.do("DELETE", "/v1/keys/key_read", b.admin, nil).is(204)
		start := time.Now()
		ours.ends()
		if waited := time.Since(start); waited > 0 {
			t.Errorf("it heard on for %v", waited)
		}
		if got := theirs.must(); got.comment == "" {
			t.Errorf("another key's stream: %+v", got)
		}
	})
}

func TestEvents_AStreamEndsWithItsSession(t *testing.T) {
	for name, end := range map[string]func(b *bubble, cookie string){
		"signed out": func(b *bubble, cookie string) { b.with(cookie, "DELETE", "/session", nil).is(204) },
		"signed in anew": func(b *bubble, cookie string) {
			b.with(cookie, "POST", "/session", api.SessionRequest{Key: b.read}).is(204)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				cookie := b.mustSignIn(b.read)
				e := b.listen("/v1/events", "", "Authorization", "", "Cookie", cookie)
				e.must()
				time.Sleep(time.Second)
				end(b, cookie)
				start := time.Now()
				e.ends()
				if waited := time.Since(start); waited > 0 {
					t.Errorf("it heard on for %v", waited)
				}
			})
		})
	}
}

// The client's Wait, over a real server: what a job does is seen as it happens.
func TestEvents_WaitSeesProgress(t *testing.T) {
	h := mustStudio(t)
	m := h.mustMac(1)
	r := m.mustRun()
	seen, ended := make(chan string, 100), make(chan error, 1)
	go func() {
		_, err := api.NewClient(h.url, h.submit, "test").Wait(t.Context(), r.JobID, func(j *api.Job) {
			text := j.Status
			if a := j.Attempts[len(j.Attempts)-1]; a.Fraction != nil {
				text += " " + strconv.FormatFloat(*a.Fraction, 'f', -1, 64)
			}
			seen <- text
		}, nil)
		ended <- err
	}()
	until := func(want string) {
		t.Helper()
		for got := range seen {
			if got == want {
				return
			}
		}
	}
	until("active")
	for _, fraction := range []float64{0.25, 0.5, 0.75} {
		p := r.progress("running")
		p.Fraction = &fraction
		r.say(p)
		hear[agentproto.ProgressOK](m)
		until("active " + strconv.FormatFloat(fraction, 'f', -1, 64))
	}
	r.cancel()
	hear[agentproto.Cancel](m)
	r.fail("buyer_cancelled")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

// BenchmarkStoredEvent is what a submit and a cancel cost, each an event, beside
// streams that hear all of it, as a ratio to none.
func BenchmarkStoredEvent(b *testing.B) {
	cost := func(readers int) time.Duration {
		h := mustStudio(b)
		h.web = &http.Client{Transport: &http.Transport{}}
		for range readers {
			e := h.listen("/v1/events", h.admin)
			go io.Copy(io.Discard, e.response.Body)
		}
		upload := storetest.MustUpload(b, h.db, h.account)
		start, n := time.Now(), 300
		for range n {
			id := storetest.MustSubmit(b, h.db, storetest.Job(h.account, upload))
			if _, err := h.db.Cancel(context.Background(), id); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start) / time.Duration(2*n)
	}
	var alone, heard time.Duration
	for b.Loop() {
		alone += cost(0)
		heard += cost(200)
	}
	b.ReportMetric(float64(alone.Microseconds())/float64(b.N), "µs/event")
	b.ReportMetric(float64(heard)/float64(alone), "200-streams/none")
}

// However many streams come back at once, and however long what they missed takes
// to read: who submits and lists does not wait for them, and each hears all of it.
func TestEvents_ManyThatComeBackStarveNobody(t *testing.T) {
	inBubble(t, func(b *bubble) {
		f := b.srv.feed
		b.mustSubmit(b.submit)
		for range cap(f.replays) { // as long as these are read, it is nobody else's turn
			f.replays <- struct{}{}
		}
		var ears []*ear
		for range 100 {
			ears = append(ears, b.listen("/v1/events", b.read, "Last-Event-ID", "0"))
		}
		b.quiet()
		f.mu.Lock()
		for s := range f.streams {
			if s.last != 0 {
				t.Errorf("a stream has read up to %d out of turn", s.last)
			}
		}
		if len(f.streams) != len(ears) {
			t.Errorf("%d streams are open", len(f.streams))
		}
		f.mu.Unlock()
		last := b.mustSubmit(b.submit)
		b.get("/v1/jobs?limit=1", b.read).is(200)
		for range cap(f.replays) {
			<-f.replays
		}
		for _, e := range ears {
			if heard := e.until("job.queued"); len(heard) == 0 || *e.until("job.queued")[0].JobID != last.ID {
				t.Errorf("heard %s, and not the last", kinds(heard))
			}
		}
	})
}
