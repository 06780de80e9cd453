package qualify

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"rendermac/artifact/artifacttest"
)

// meter counts what passes on some cables, and lets things happen at a byte.
type meter struct {
	mu     sync.Mutex
	passed int64
	orders []order
}

// order is what is to happen once so many bytes have passed.
type order struct {
	at  int64
	act func()
}

// arm has something happen so many bytes from now.
func (m *meter) arm(after int64, act func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders = append(m.orders, order{m.passed + after, act})
}

// disarm forgets what has not happened.
func (m *meter) disarm() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders = nil
}

// pass says how many of n bytes may pass. What happens at the last of them has
// happened then, and nothing else has passed meanwhile.
func (m *meter) pass(n int) (now int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, o := range m.orders {
		if m.passed+int64(n) < o.at {
			continue
		}
		n = int(max(0, o.at-m.passed))
		m.orders = slices.Delete(m.orders, i, i+1)
		o.act()
		break
	}
	m.passed += int64(n)
	return n
}

// cable is a line of TCP to one address. What it counts has been read from one
// side and written to the other.
type cable struct {
	*meter
	url, to string
	open    net.Listener

	mu       sync.Mutex
	up, down int64 // bytes towards the address, and from it
	lines    map[*joint]bool
	rate     int64 // see slow; 0 is as fast as it goes
	closed   chan struct{}
}

// joint is one connection on a cable.
type joint struct {
	near, far net.Conn
	still     chan struct{} // closed when nothing passes any more, and nobody is told
}

// newCable is a cable to an address at which somebody will listen.
func newCable(t testing.TB, m *meter, to string) *cable {
	t.Helper()
	l, err := net.Listen("tcp", artifacttest.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{meter: m, url: "http://" + l.Addr().String(), to: to, open: l, lines: map[*joint]bool{}, closed: make(chan struct{})}
	go c.accept()
	t.Cleanup(func() {
		l.Close()
		close(c.closed)
		c.cut()
	})
	return c
}

func (c *cable) accept() {
	for {
		near, err := c.open.Accept()
		if err != nil {
			return
		}
		go c.join(near)
	}
}

// join connects both sides; where nobody listens, the near one finds itself cut
// off.
func (c *cable) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer far.Close()
	for _, end := range []net.Conn{near, far} { // little may be on its way unseen
		_ = end.(*net.TCPConn).SetReadBuffer(64 << 10)
		_ = end.(*net.TCPConn).SetWriteBuffer(64 << 10)
	}
	l := &joint{near, far, make(chan struct{})}
	c.mu.Lock()
	c.lines[l] = true
	c.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { c.pump(l, far, near, &c.up) })
	both.Go(func() { c.pump(l, near, far, &c.down) })
	both.Wait()
	c.mu.Lock()
	delete(c.lines, l)
	c.mu.Unlock()
}

// pump carries one direction. Its end is the connection's.
func (c *cable) pump(l *joint, dst, src net.Conn, count *int64) {
	defer func() { dst.Close(); src.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := src.Read(buffer)
		for rest := buffer[:n]; len(rest) > 0; {
			if !c.moving(l) {
				<-c.closed
				return
			}
			some := c.pass(len(rest))
			if _, err := dst.Write(rest[:some]); err != nil {
				return
			}
			c.counted(count, int64(some))
			rest = rest[some:]
		}
		if err != nil {
			return
		}
	}
}

func (c *cable) moving(l *joint) bool {
	select {
	case <-l.still:
		return false
	default:
		return true
	}
}

func (c *cable) counted(count *int64, n int64) {
	c.mu.Lock()
	*count += n
	rate := c.rate
	c.mu.Unlock()
	if rate > 0 {
		time.Sleep(time.Duration(n) * time.Second / time.Duration(rate)) // it is a slow line
	}
}

// slow makes the line one of so many bytes a second, each connection and way.
func (c *cable) slow(rate int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rate = rate
}

// traffic is what has passed so far.
func (c *cable) traffic() (up, down int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.up, c.down
}

// each does something to every connection there is.
func (c *cable) each(do func(*joint)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.lines {
		do(l)
	}
}

// cut ends every connection.
func (c *cable) cut() { c.each(func(l *joint) { l.near.Close(); l.far.Close() }) }

// freeze lets nothing pass any more on the connections there are, and tells
// nobody: a plug that was pulled. New ones work.
func (c *cable) freeze() {
	c.each(func(l *joint) {
		if c.moving(l) {
			close(l.still)
		}
	})
}
