package agent

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
	"rendermac/failpoint"
)

const (
	dialTime  = 20 * time.Second
	helloTime = 10 * time.Second
	lateHello = time.Minute // within it a hello that was given up may still be stored
)

// session connects, says hello and serves until the connection ends. greeted is
// whether the server took the hello.
func (a *agent) session(ctx context.Context) (greeted bool, err error) {
	mounted := a.prover.features(ctx)
	var heard atomic.Int64
	hear := func() { heard.Store(int64(a.now())) }
	conn, err := a.dial(ctx, hear)
	if err != nil {
		return false, err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(agentproto.MaxFrame)

	l := &link{conn, make(chan struct{})}
	sent, listed := a.now(), a.ours()
	terms, err := a.hello(ctx, l, listed, mounted)
	if err != nil {
		return false, closedBy(err)
	}
	hear()
	a.greet(terms, listed)
	failpoint.At("agent.hello.answered")

	// Not ctx: an agent that is told to leave says goodbye on this connection.
	reading, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	helpers.Go(func() { a.announce(reading, l) })
	helpers.Go(func() { a.listen(reading, &heard, stop) })
	helpers.Go(func() { a.watchRoots(reading, mounted, stop) })
	helpers.Go(func() { a.leaveOn(ctx, reading, l) })
	err = a.read(reading, l, hear, sent)
	stop(err)
	for _, r := range a.held() {
		r.detach(l)
	}
	close(l.gone)
	helpers.Wait()
	return true, closedBy(err)
}

func (a *agent) dial(ctx context.Context, hear func()) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, answer, err := websocket.Dial(ctx, a.base.JoinPath("v1/provider/ws").String(), &websocket.DialOptions{
		HTTPClient:     a.web,
		HTTPHeader:     http.Header{"Authorization": {"Bearer " + a.Token}},
		Subprotocols:   []string{agentproto.Subprotocol},
		OnPingReceived: func(context.Context, []byte) bool { hear(); return true },
	})
	if answer != nil && answer.StatusCode == http.StatusUnauthorized {
		return nil, &StopError{"the server does not know this device's token: pair this machine again with rendermac pair --force"}
	}
	return conn, err
}

// hello is the first message; nothing else is read until it has been answered.
func (a *agent) hello(ctx context.Context, l *link, listed []*run, mounted []string) (*agentproto.HelloOK, error) {
	device := a.device
	device.FreeDiskBytes, device.Features = freeBytes(a.WorkDir), slices.Concat(device.Features, mounted)
	hello := &agentproto.Hello{
		Protocol: agentproto.Version, AgentVersion: a.Version, Slots: a.Slots,
		Services: a.offered(), Device: device, Resume: []agentproto.ResumeEntry{},
	}
	for _, r := range listed {
		ids, token := r.identity()
		hello.Resume = append(hello.Resume, agentproto.ResumeEntry{IDs: ids, CommitToken: token})
	}
	if a.now()-a.unheardAt > lateHello {
		a.unheard = 0
	}
	a.unheard, a.unheardAt = a.unheard+1, a.now()
	if err := l.send(hello); err != nil {
		return nil, err
	}
	failpoint.At("agent.hello.sent")
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	_, frame, err := l.conn.Read(ctx)
	if err == nil || websocket.CloseStatus(err) != -1 {
		a.unheard--
	}
	if err != nil {
		return nil, err
	}
	m, err := agentproto.Decode(frame)
	if err != nil {
		return nil, err
	}
	terms, ok := m.(*agentproto.HelloOK)
	if !ok {
		return nil, refused("hello", m)
	}
	return terms, nil
}

// greet takes over what the server grants. Where it resumes nothing it has ended
// every run that is not committed: a reconnect means a new attempt.
func (a *agent) greet(terms *agentproto.HelloOK, listed []*run) {
	if terms.Heartbeat <= 0 {
		terms.Heartbeat = agentproto.SecondsOf(15 * time.Second)
	}
	a.mu.Lock()
	a.terms = *terms
	a.mu.Unlock()
	if terms.Slots > 0 {
		a.slots.resize(terms.Slots)
	}
	for _, r := range listed {
		if !terms.Resume && !r.isAccepted() {
			r.lose(errRevoked)
		}
	}
	a.log.Info("connected", "device_id", terms.DeviceID, "device", terms.DeviceName, "slots", terms.Slots, "server_version", terms.ServerVersion)
}

func (a *agent) heartbeat() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.terms.Heartbeat.Duration()
}
