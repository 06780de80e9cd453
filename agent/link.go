package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"rendermac/agentproto"
	"rendermac/failpoint"
)

const (
	writeTime = 10 * time.Second // and a second for each 64 KiB
	quietTime = 15 * time.Second // over two heartbeats: no word for so long, and the socket is dead
)

var (
	errTooBig = errors.New("the message is larger than the server reads")
	errQuiet  = errors.New("nothing was heard from the server for too long")
)

// link is one connection that the server has greeted.
type link struct {
	conn *websocket.Conn
	gone chan struct{} // closed once the session has ended and every run knows
}

// send writes one frame. Where it fails the connection is closed, which the
// session's reader sees.
func (l *link) send(m agentproto.Message) error {
	frame, err := agentproto.Encode(m)
	if err != nil {
		return err
	}
	if len(frame) > agentproto.MaxFrame {
		return fmt.Errorf("%w: %s of %d bytes", errTooBig, m.Type(), len(frame))
	}
	ctx, cancel := context.WithTimeout(context.Background(), writeTime+time.Duration(len(frame)>>16)*time.Second)
	defer cancel()
	return l.conn.Write(ctx, websocket.MessageText, frame)
}

// announce pulls: it says how many slots are free, at first and at each change.
func (a *agent) announce(ctx context.Context, l *link) {
	for said := -1; ; {
		if free := a.slots.free(); free != said {
			if l.send(&agentproto.Ready{SlotsFree: free}) != nil {
				return
			}
			said = free
		}
		select {
		case <-ctx.Done():
			return
		case <-a.slots.changed:
		}
	}
}

// listen ends a session that has gone quiet: the server pings an idle one every
// heartbeat. It is also how an agent finds out at once that the machine slept.
func (a *agent) listen(ctx context.Context, heard *atomic.Int64, stop context.CancelCauseFunc) {
	for ctx.Err() == nil {
		if a.now()-time.Duration(heard.Load()) > 2*a.heartbeat()+quietTime {
			stop(errQuiet)
		}
		a.now.sleep(ctx, glance)
	}
}

// leaveOn says goodbye when the agent is told to leave: what is not kept ends
// now, not at its expiry.
func (a *agent) leaveOn(leaving, session context.Context, l *link) {
	select {
	case <-session.Done():
		return
	case <-leaving.Done():
	}
	bye := &agentproto.Bye{Reason: "shutdown", Keep: []agentproto.IDs{}}
	for _, r := range a.held() {
		if r.isKept() {
			ids, _ := r.identity()
			bye.Keep = append(bye.Keep, ids)
		}
	}
	failpoint.At("agent.bye.before")
	if l.send(bye) == nil {
		failpoint.At("agent.bye.after")
		l.conn.Close(websocket.StatusNormalClosure, "bye")
	}
}

var errReplaced = &StopError{"another agent runs with this machine's pairing: stop that one, or pair this machine as a device of its own"}

// closedBy makes of a closed connection what it means for this agent.
func closedBy(err error) error {
	switch websocket.CloseStatus(err) {
	case agentproto.CloseReplaced:
		return errReplaced
	case agentproto.CloseProtocol:
		return &StopError{"the server does not speak this agent's protocol: update rendermac on this machine or on the server"}
	case agentproto.CloseRevoked:
		return &StopError{"this device was revoked on the server: pair this machine again with rendermac pair --force"}
	}
	return err
}
