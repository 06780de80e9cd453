package qualify

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// line is the network between a Mac and its server.
type line struct {
	url, to string
	mu      sync.Mutex
	conns   map[net.Conn]bool
	down    bool
	deaf    bool // what the server says is lost
}

func newLine(t testing.TB, to string) *line {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &line{url: "http://" + l.Addr().String(), to: to, conns: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); w.cut() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(near)
		}
	}()
	return w
}

func (w *line) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.keep(near, far) {
		return
	}
	go func() { _, _ = io.Copy(far, near); far.Close() }()
	_, _ = io.Copy(writer(func(p []byte) (int, error) {
		w.mu.Lock()
		deaf := w.deaf
		w.mu.Unlock()
		if deaf {
			return len(p), nil
		}
		return near.Write(p)
	}), far)
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func (w *line) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range conns {
		w.conns[c] = true
	}
	return !w.down
}

// cut ends every connection, and every new one, until mend.
func (w *line) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for c := range w.conns {
		c.Close()
		delete(w.conns, c)
	}
}

func (w *line) deafen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.deaf = true
}

func (w *line) mend() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down, w.deaf = false, false
	return time.Now()
}
