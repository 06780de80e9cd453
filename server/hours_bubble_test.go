package server

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rendermac/agentproto"
	"rendermac/store"
	"rendermac/store/storetest"
)

// The whole server in a bubble of testing/synctest: its clock moves only while
// everybody waits, so that hours pass in milliseconds and instants are exact.
// Real sockets would hold that clock up; these connections are pipes in memory.

// bubble is a server in fake time.
type bubble struct {
	*httpServer
	wall    *wall
	batches atomic.Int64 // that the store's writer has ended
	hooks   sync.Map     // *wires of those who receive webhooks, by host
}

// inBubble runs test in fake time beside a server whose loops run.
func inBubble(t *testing.T, test func(*bubble), change ...func(*Options)) {
	t.Helper()
	inBubbleOf(t, func(*store.Options) {}, func(b *bubble) {
		b.mustStart()
		test(b)
	}, change...)
}

// inBubbleOf leaves the server to be started.
func inBubbleOf(t *testing.T, stored func(*store.Options), test func(*bubble), change ...func(*Options)) {
	t.Helper()
	clip(t) // made outside: ffmpeg takes real time
	synctest.Test(t, func(t *testing.T) {
		wires := &wires{arriving: make(chan net.Conn), closed: make(chan struct{})}
		b := &bubble{
			httpServer: &httpServer{TB: t, url: "http://rendermac.test", dir: memoryDir(t), log: &logBuffer{}, wires: wires},
			wall:       &wall{start: time.Now()},
		}
		b.web, _ = wires.client()
		b.web.Timeout = time.Hour
		o := storetest.Options(b.dir, nil)
		o.Now, o.Rand = b.wall.Now, rand.Reader
		o.Mono, o.Observe = b.wall.Mono, func(store.Batch) { b.batches.Add(1) }
		b.mustBuild(o, stored, append(change, func(o *Options) { o.Mono = b.wall.Mono })...)
		b.srv.deliverer.sender.transport.DialContext = b.dialHook
		server := &http.Server{Handler: b.srv.Handler(), ReadHeaderTimeout: 10 * time.Second}
		go server.Serve(wires)
		t.Cleanup(func() {
			b.web.CloseIdleConnections()
			server.Close()
			b.srv.loops.Wait()
		})
		test(b)
	})
}

// memoryDir is on a disk of memory where there is one: these tests sync
// thousands of times, and no power is cut here.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "rendermac-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// wall is the bubble's clock, and one that can be set.
type wall struct {
	start  time.Time
	offset atomic.Int64
}

func (w *wall) Now() time.Time { return time.Now().Round(0).Add(time.Duration(w.offset.Load())) }

func (w *wall) Mono() time.Duration { return time.Since(w.start) }

// set moves the wall clock while no time passes.
func (w *wall) set(by time.Duration) { w.offset.Add(int64(by)) }

// wires is a listener whose connections are in memory.
type wires struct {
	arriving chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (w *wires) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (w *wires) Close() error   { w.once.Do(func() { close(w.closed) }); return nil }

func (w *wires) Accept() (net.Conn, error) {
	select {
	case c := <-w.arriving:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// client has connections of its own, and the hole that they can fall into.
func (w *wires) client() (*http.Client, *hole) {
	h := &hole{}
	dial := func(context.Context, string, string) (net.Conn, error) { return w.dial(h) }
	return &http.Client{Transport: &http.Transport{DialContext: dial}, CheckRedirect: noRedirects.CheckRedirect}, h
}

func (w *wires) dial(h *hole) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.arriving <- newWire(theirs, h):
		return newWire(ours, h), nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// hole is what a connection falls into once it is open: nothing arrives any
// more on either side, and nobody is told.
type hole struct{ atomic.Bool }

// wire is one end of a pipe with a buffer in front of it, as a socket has: a
// write never waits for the reader, and a close delivers what was written.
type wire struct {
	net.Conn
	hole   *hole
	mu     sync.Mutex
	queue  [][]byte
	closed bool
	some   chan struct{}
}

func newWire(c net.Conn, h *hole) *wire {
	w := &wire{Conn: c, hole: h, some: make(chan struct{}, 1)}
	go w.pump()
	return w
}

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, net.ErrClosed
	}
	w.queue = append(w.queue, append([]byte(nil), p...))
	w.wake()
	return len(p), nil
}

func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		w.Conn.SetReadDeadline(time.Unix(1, 0))
		w.Conn.SetWriteDeadline(time.Now().Add(time.Second)) // for what is still on its way
		w.wake()
	}
	return nil
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.closed {
		err = net.ErrClosed
	}
	return n, err
}

// SetWriteDeadline has nothing to end: no write waits.
func (w *wire) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline is the reader's.
func (w *wire) SetDeadline(t time.Time) error { return w.Conn.SetReadDeadline(t) }

func (w *wire) wake() {
	select {
	case w.some <- struct{}{}:
	default:
	}
}

func (w *wire) pump() {
	defer w.Conn.Close()
	for {
		w.mu.Lock()
		queue, closed := w.queue, w.closed
		w.queue = nil
		w.mu.Unlock()
		for _, p := range queue {
			if w.hole.Load() {
				continue
			}
			if _, err := w.Conn.Write(p); err != nil {
				return
			}
		}
		if closed && len(queue) == 0 {
			return
		}
		if !closed {
			<-w.some
		}
	}
}

// heard is what an ear has heard.
type heard struct {
	message agentproto.Message
	err     error
}

var errSilence = errors.New("nothing came")

// listen reads all the time: the socket's pings are answered by its reader.
func (m *mac) listen() {
	ear, conn := make(chan heard, 4096), m.conn
	m.heard = ear
	go func() {
		for {
			_, frame, err := conn.Read(context.Background())
			h := heard{err: err}
			if err == nil {
				h.message, h.err = agentproto.Decode(frame)
			}
			ear <- h
			if err != nil {
				close(ear)
				return
			}
		}
	}()
}

func (m *mac) listened() (agentproto.Message, error) {
	select {
	case h, ok := <-m.heard:
		if !ok {
			return nil, net.ErrClosed
		}
		return h.message, h.err
	case <-time.After(2 * time.Hour):
		return nil, errSilence
	}
}
