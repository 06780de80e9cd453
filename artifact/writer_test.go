package artifact

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// connected is an answer whose request body comes from a connection.
type connected struct {
	*httptest.ResponseRecorder
	net.Conn
}

func (c connected) Write(b []byte) (int, error) { return c.ResponseRecorder.Write(b) }

// inBubble runs a test on a store whose part 1 of 10 bytes is not held yet, with
// a request for it whose body comes from client.
func inBubble(t *testing.T, run func(t *testing.T, d *Dir, client, server net.Conn, put func() error)) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, err := OpenDir(folder, "", testSigner.secret, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Begin(t.Context(), "a", 10, 10); err != nil {
			t.Fatal(err)
		}
		u, err := d.SignPart(t.Context(), "a", Part{Number: 1, Bytes: 10}, "upl_1", time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		client, server := net.Pipe()
		defer client.Close()
		run(t, d, client, server, func() error {
			r := httptest.NewRequest(http.MethodPut, u.URL, io.LimitReader(server, 10))
			r.ContentLength = 10
			return d.Put(connected{httptest.NewRecorder(), server}, r)
		})
	})
}

// A Mac that falls asleep in mid-body keeps neither the part nor the connection.
func TestPut_StalledBodyIsCutOff(t *testing.T) {
	inBubble(t, func(t *testing.T, d *Dir, client, _ net.Conn, put func() error) {
		go func() {
			for range 5 { // slow is not stalled
				time.Sleep(stall - time.Second)
				_, _ = client.Write([]byte{1})
			}
		}()
		began := time.Now()
		if err := put(); !errors.Is(err, errBroken) {
			t.Errorf("Put = %v, want errBroken", err)
		}
		if took, want := time.Since(began), 5*(stall-time.Second)+stall; took != want {
			t.Errorf("cut off after %v, want %v", took, want)
		}
		if held, err := d.Held(t.Context(), "a"); err != nil || len(held) > 0 {
			t.Errorf("held: %v, %v", held, err)
		}
	})
}

// The connection that a part came by serves the next request as any other.
func TestPut_LeavesNoDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, d *Dir, client, server net.Conn, put func() error) {
		go func() { _, _ = client.Write(make([]byte, 10)) }()
		if err := put(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * stall)
		go func() { _, _ = client.Write([]byte("next")) }()
		if _, err := io.ReadFull(server, make([]byte, 4)); err != nil {
			t.Errorf("the next request: %v", err)
		}
	})
}

// Two Macs that hold the same URL: the second is told to come again, not kept
// for as long as the first one trickles.
func TestF16_SecondWriterIsSentAway(t *testing.T) {
	inBubble(t, func(t *testing.T, d *Dir, client, _ net.Conn, put func() error) {
		first := make(chan error)
		go func() { first <- put() }()
		go func() {
			for range 10 {
				time.Sleep(stall / 2)
				_, _ = client.Write([]byte{1})
			}
		}()
		synctest.Wait()
		began := time.Now()
		if err := put(); !errors.Is(err, errPartBusy) || time.Since(began) != patience {
			t.Errorf("second writer: %v after %v, want errPartBusy after %v", err, time.Since(began), patience)
		}
		if err := <-first; err != nil {
			t.Errorf("first writer: %v", err)
		}
	})
}

// A freeze lasts until the last writer has closed its file, and whoever comes
// meanwhile waits for what becomes of the write.
func TestF16_FreezeWaitsForWriters(t *testing.T) {
	for _, gone := range []bool{false, true} {
		inBubble(t, func(t *testing.T, d *Dir, _, _ net.Conn, _ func() error) {
			w, p := d.find("a"), Part{Number: 1, Bytes: 10}
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			in := &writer{stop, make(chan struct{})}
			if err := w.admit(t.Context(), in, p, w.grant(1), 10); err != nil {
				t.Fatal(err)
			}
			frozen, later := false, make(chan error, 1)
			go func() {
				w.freeze(everyPart)
				frozen = true
			}()
			synctest.Wait()
			if frozen || !errors.Is(context.Cause(ctx), errEnded) {
				t.Errorf("with a writer: frozen %v, its context ended by %v", frozen, context.Cause(ctx))
			}
			if err := w.leave(in, p, errEnded); !errors.Is(err, errEnded) {
				t.Errorf("leave: %v", err)
			}
			synctest.Wait()
			if !frozen {
				t.Fatal("not frozen once the writer has left")
			}
			go func() { later <- w.admit(t.Context(), &writer{stop, make(chan struct{})}, p, w.grant(1), 10) }()
			synctest.Wait()
			if len(later) > 0 {
				t.Fatalf("somebody was let in during a freeze: %v", <-later)
			}
			w.thaw(gone)
			if err := <-later; gone != errors.Is(err, errEnded) {
				t.Errorf("after thaw(%v): %v", gone, err)
			}
		})
	}
}

// Abort does not wait for a Mac that says nothing.
func TestF16_StoppedWriterIsWoken(t *testing.T) {
	inBubble(t, func(t *testing.T, d *Dir, _, _ net.Conn, put func() error) {
		done := make(chan error)
		go func() { done <- put() }()
		synctest.Wait() // in Read, with nothing to read
		began := time.Now()
		if err := d.Abort(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, errEnded) || time.Since(began) != 0 {
			t.Errorf("Put = %v, %v after Abort; want errEnded at once", err, time.Since(began))
		}
	})
}

func TestF16_StoppedWriterReadsNoMore(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	b := &body{Reader: strings.NewReader("more"), conn: http.NewResponseController(httptest.NewRecorder()), ctx: ctx}
	stop(errEnded)
	if n, err := b.Read(make([]byte, 4)); n != 0 || !errors.Is(err, errEnded) {
		t.Errorf("Read = %d, %v; want errEnded", n, err)
	}
}

// A writer that is stopped when its last byte has come hears that the grant has
// ended, and not that its body had another length.
func TestF16_AStoppedWriterHearsWhyAtItsEnd(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	b := &body{Reader: strings.NewReader(""), conn: http.NewResponseController(httptest.NewRecorder()), ctx: ctx}
	if err := b.atEnd(Part{Number: 1, Bytes: 10}); err != nil {
		t.Errorf("at the end: %v", err)
	}
	stop(errEnded)
	if err := b.atEnd(Part{Number: 1, Bytes: 10}); !errors.Is(err, errEnded) {
		t.Errorf("stopped at the end: %v, want errEnded", err)
	}
}

// A writer that is stopped when its body has come whole leaves a connection
// whose context has ended: the next part must not come on it.
func TestF16_AStoppedWriterTakesNoOtherPartAlong(t *testing.T) {
	d, err := OpenDir(t.TempDir(), "", testSigner.secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Begin(t.Context(), "a", 2, 1); err != nil {
		t.Fatal(err)
	}
	w, ended := d.find("a"), make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		context.AfterFunc(r.Context(), func() { ended <- struct{}{} })
		if err := d.Put(answer, r); err != nil {
			http.Error(answer, err.Error(), http.StatusUnprocessableEntity)
		}
	}))
	defer s.Close()
	reading, body := io.Pipe()
	answers := make(chan *http.Response)
	go func() {
		for n, b := range []io.Reader{reading, strings.NewReader("b")} {
			u, _ := d.SignPart(context.Background(), "a", Part{Number: n + 1, Bytes: 1}, "upl_1", time.Now().Add(time.Hour))
			r, _ := http.NewRequest(http.MethodPut, s.URL+u.URL, b)
			r.ContentLength = 1
			answer, err := s.Client().Do(r)
			if err != nil {
				t.Error(err)
			} else {
				answer.Body.Close()
			}
			answers <- answer
		}
	}()
	var in *writer
	until(func() bool { w.mu.Lock(); defer w.mu.Unlock(); in = w.writers[1]; return in != nil })
	w.mu.Lock() // it cannot leave before it has been stopped
	_, _ = body.Write([]byte("a"))
	body.Close()
	until(func() bool { b, _ := w.root.ReadFile(w.dataName()); return string(b) == "a" })
	in.stop(errEnded)
	<-ended
	w.mu.Unlock()
	<-answers
	if second := <-answers; second == nil || second.StatusCode != http.StatusOK {
		t.Fatalf("the part after it was answered %+v", second)
	}
}

// until waits for what gives no signal.
func until(holds func() bool) {
	for !holds() {
		time.Sleep(time.Millisecond)
	}
}
