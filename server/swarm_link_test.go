package server

import (
	"context"
	"net"
	"net/http"
	"sync"

	"rendermac/agentproto"

	"github.com/coder/websocket"
)

// swarmLink is one socket of a swarm's agent, and what was asked on it and not
// yet answered: the server answers in the order in which it heard.
type swarmLink struct {
	conn     *websocket.Conn
	raw      net.Conn
	helloAt  int64
	rivals   []*swarmLink // whose hellos had no answer yet when this one was said
	overtook bool         // its hello was stored after a later one, and replaced that one's session
	drained  bool         // no offer may come
	deaf     bool         // its lease_resumed is taken for lost on the way
	asked    map[agentproto.IDs][]swarmAsk
	commits  map[string][]*swarmCommit
	fails    map[string][]*swarmFail
}

// swarmAsk is a progress or upload message under way.
type swarmAsk struct {
	at    int64
	n     int
	stale bool // under an identity that was no longer the newest
}

// swarmHeard is what a link's reader brings; a nil message is the socket's end.
type swarmHeard struct {
	link *swarmLink
	msg  agentproto.Message
	code websocket.StatusCode
}

// gated is a socket that stops taking anything in while its agent is frozen.
type gated struct {
	net.Conn
	gate *sync.RWMutex
}

func (g gated) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	g.gate.RLock()
	defer g.gate.RUnlock()
	return n, err
}

// dial opens a socket and starts its reader; nil where the server refused.
func (a *swarmAgent) dial() *swarmLink {
	l := &swarmLink{asked: map[agentproto.IDs][]swarmAsk{}, commits: map[string][]*swarmCommit{}, fails: map[string][]*swarmFail{}}
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, a.url+"/v1/provider/ws", &websocket.DialOptions{
		Subprotocols: []string{agentproto.Subprotocol}, HTTPHeader: http.Header{"Authorization": {"Bearer " + a.token}},
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, address)
			l.raw = c
			return gated{c, &a.gate}, err
		}}},
	})
	switch {
	case err != nil && answer != nil && answer.StatusCode == http.StatusServiceUnavailable:
		a.count("503")
		return nil
	case err != nil:
		a.wrong("agent %d cannot connect: %v", a.n, err)
		return nil
	}
	conn.SetReadLimit(agentproto.MaxFrame)
	l.conn = conn
	a.readers.Go(func() { a.readFrom(l) })
	return l
}

func (a *swarmAgent) readFrom(l *swarmLink) {
	for {
		_, frame, err := l.conn.Read(context.Background())
		h := swarmHeard{link: l, code: websocket.CloseStatus(err)}
		if err == nil {
			if h.msg, err = agentproto.Decode(frame); err != nil {
				a.wrong("the server sent %q: %v", frame, err)
			}
		}
		select {
		case a.heard <- h:
		case <-a.gone:
			l.conn.CloseNow()
			return
		}
		if h.msg == nil {
			l.conn.CloseNow()
			return
		}
	}
}

// say writes a message; a socket that has ended takes it nowhere.
func (l *swarmLink) say(m agentproto.Message) {
	frame, _ := agentproto.Encode(m) // plain values: it cannot fail
	ctx, cancel := context.WithTimeout(context.Background(), hearing)
	defer cancel()
	_ = l.conn.Write(ctx, websocket.MessageText, frame)
}

// cut ends the socket as a pulled cable and a reset do.
func (l *swarmLink) cut() {
	if tcp, ok := l.raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = l.raw.Close()
}

func (a *swarmAgent) shut(l *swarmLink) {
	a.readers.Go(func() { _ = l.conn.Close(websocket.StatusNormalClosure, "") })
}
