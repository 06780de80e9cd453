package server

import (
	"context"
	"fmt"

	"rendermac/agentproto"

	"github.com/coder/websocket"
)

// inbox reads an agent's frames and counts the bad ones in a row.
type inbox struct {
	conn *websocket.Conn
	bad  int
}

// next is the next message; ErrBadMessage where the session goes on without it.
func (in *inbox) next() (agentproto.Message, error) {
	kind, frame, err := in.conn.Read(context.Background())
	if err != nil {
		return nil, err
	}
	var m agentproto.Message
	err = fmt.Errorf("%w: send text frames", agentproto.ErrBadMessage)
	if kind == websocket.MessageText {
		m, err = agentproto.Decode(frame)
	}
	if err == nil {
		in.bad = 0
		return m, nil
	}
	if in.bad++; in.bad > maxBad {
		in.conn.Close(agentproto.ClosePolicy, "too many bad messages")
		return nil, fmt.Errorf("too many bad messages")
	}
	return nil, err
}

// hello waits for the first message, which must be one; anything else before it
// is answered as bad.
func (in *inbox) hello() (*agentproto.Hello, error) {
	for {
		m, err := in.next()
		if hello, ok := m.(*agentproto.Hello); ok {
			return hello, nil
		}
		if err == nil {
			err = fmt.Errorf("%w: say hello first", agentproto.ErrBadMessage)
		} else if m == nil && !isBad(err) {
			return nil, err
		}
		frame, _ := agentproto.Encode(&agentproto.Error{Code: "bad_message", Message: err.Error()})
		if err := in.conn.Write(context.Background(), websocket.MessageText, frame); err != nil {
			return nil, err
		}
	}
}
