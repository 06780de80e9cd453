package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// script answers each connection to a stream with its next text, then breaks it
// off, and keeps what it was asked to go on from.
type script struct {
	mu    sync.Mutex
	texts []string
	from  []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.from = append(s.from, r.Header.Get("Last-Event-ID"))
	text := ""
	if len(s.texts) > 0 {
		text, s.texts = s.texts[0], s.texts[1:]
	}
	s.mu.Unlock()
	if text == "" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", EventStreamType)
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func stored(id int, kind string) string {
	return fmt.Sprintf("id: %d\nevent: %s\ndata: {\"id\":%d,\"type\":%q}\n\n", id, kind, id, kind)
}

// told is what Events handed over.
func told(t *testing.T, s http.Handler, jobID string) ([]string, error) {
	t.Helper()
	var all []string
	err := testClient(serve(t, s)).Events(t.Context(), jobID, func(e *Event) error {
		all = append(all, e.Type)
		return nil
	})
	return all, err
}

func TestEventsGoOnWhereTheConnectionBroke(t *testing.T) {
	first := stored(1, "job.queued")
	s := &script{texts: []string{
		":\n\n" + first + stored(3, "attempt.leased")[:20],                                                       // in the middle of an event
		stored(3, "attempt.leased") + "event: progress\ndata: {\"id\":null,\"type\":\"progress\"}\n\n" + "id: 1", // in the middle of an id
		stored(3, "attempt.leased") + stored(5, "job.verifying"),                                                 // by a proxy that repeats
		strings.ReplaceAll(stored(9, "job.succeeded"), "\n", "\r\n") + stored(10, "not.ours"),
	}}
	got, err := told(t, s, "job_1")
	if want := []string{"job.queued", "attempt.leased", "progress", "job.verifying", "job.succeeded"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if want := []string{"", "1", "3", "5"}; !slices.Equal(s.from, want) {
		t.Errorf("went on from %q, want %q", s.from, want)
	}
}

func TestEventsAfterAResetAreTakenAsTheyCome(t *testing.T) {
	s := &script{texts: []string{stored(50, "job.queued"), stored(0, EventReset) + stored(2, "job.queued") + stored(3, "job.cancelled")}}
	got, err := told(t, s, "job_1")
	if want := []string{"job.queued", EventReset, "job.queued", "job.cancelled"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestEventsRememberThePlaceWhereTheyBegan(t *testing.T) {
	s := &script{texts: []string{"id: 7\n\n", stored(8, "device.online")}}
	got, err := told(t, s, "")
	if err != nil || len(got) != 1 || !slices.Equal(s.from, []string{"", "7", "8"}) {
		t.Errorf("got %v, %v from %q", got, err, s.from)
	}
}

func TestEventsThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"no such job": {func(w http.ResponseWriter, _ *http.Request) {
			answer(w, 0, NewError(404, CodeNotFound, "There is no such job."))
		}, "no such job"},
		"an old proxy": {func(w http.ResponseWriter, _ *http.Request) { answer(w, 200, "fine") }, "no stream of events"},
		"a flood without an end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", EventStreamType)
			for chunk := strings.Repeat("x", 64<<10); ; {
				if _, err := io.WriteString(w, chunk); err != nil {
					return
				}
			}
		}, "too long"},
		"no JSON": {(&script{texts: []string{"data: {\n\n"}}).ServeHTTP, "no RenderMac server"},
	} {
		if got, err := told(t, c.answer, "job_1"); err == nil || !strings.Contains(err.Error(), c.says) || len(got) > 0 {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	enough := errors.New("enough")
	err := testClient(serve(t, &script{texts: []string{stored(1, "job.queued")}})).Events(t.Context(), "job_1", func(*Event) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// A connection that has died without a word is given up.
func TestEventsLeaveASilentConnection(t *testing.T) {
	var asked atomic.Int64
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", EventStreamType)
		if asked.Add(1) == 1 {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, stored(1, "job.failed"))
	})))
	client.stall = 50 * time.Millisecond
	if err := client.Events(t.Context(), "job_1", func(*Event) error { return nil }); err != nil || asked.Load() < 2 {
		t.Errorf("got %v after %d connections", err, asked.Load())
	}
}

// Where events come, Wait asks when they say so, and shows what they tell.
func TestWaitHearsOfEachChange(t *testing.T) {
	looks, news := make(chan string), make(chan string)
	client := testClient(serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			answer(w, 200, Job{JobItem: JobItem{ID: "job_1", Status: <-looks}, Attempts: []Attempt{{ID: "att_1", Status: "leased"}}})
			return
		}
		w.Header().Set("Content-Type", EventStreamType)
		for text := range news {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	})))
	client.every = time.Hour // it never looks by itself
	seen := make(chan string)
	ended := make(chan error, 1)
	go func() {
		_, err := client.Wait(t.Context(), "job_1", func(j *Job) {
			a := j.Attempts[0]
			text := j.Status + " " + a.Status
			if a.Fraction != nil {
				text += fmt.Sprint(" ", *a.Fraction)
			}
			seen <- text
		}, nil)
		ended <- err
	}()
	expect := func(want string) {
		t.Helper()
		if got := <-seen; got != want {
			t.Fatalf("saw %q, want %q", got, want)
		}
	}
	looks <- JobActive
	expect("active leased")
	news <- `data: {"type":"progress","attempt_id":"att_1","data":{"phase":"running","fraction":0.25}}` + "\n\n"
	expect("active running 0.25")
	news <- stored(1, "job.verifying")
	looks <- JobVerifying
	expect("verifying leased")
	news <- stored(2, "job.succeeded")
	looks <- JobSucceeded
	expect("succeeded leased")
	close(news)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
