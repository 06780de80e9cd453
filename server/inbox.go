package server

import (
	"context"
	"errors"
	"fmt"

	"rendermac/agentproto"

	"github.com/coder/websocket"
)

// inbox reads an agent's frames and counts the bad ones in a row.
type inbox struct {
	conn    *websocket.Conn
	greeted bool // hello has come: it comes first, and once
	bad     int
}

var errTooManyBad = errors.New("too many bad messages")

// next is the next message; ErrBadMessage where the session goes on without it.
func (in *inbox) next() (agentproto.Message, error) {
	kind, frame, err := in.conn.Read(context.Background())
	if err != nil {
		return nil, err
	}
	m, err := in.decode(kind, frame)
	if err == nil {
		in.bad = 0
		return m, nil
	}
	if in.bad++; in.bad > maxBad {
		in.conn.Close(agentproto.ClosePolicy, errTooManyBad.Error())
		return nil, errTooManyBad
	}
	return nil, err
}

func (in *inbox) decode(kind websocket.MessageType, frame []byte) (agentproto.Message, error) {
	if kind != websocket.MessageText {
		return nil, fmt.Errorf("%w: send text frames", agentproto.ErrBadMessage)
	}
	m, err := agentproto.Decode(frame)
	if err != nil {
		return nil, err
	}
	switch m.(type) {
	case *agentproto.Hello:
		if in.greeted {
			return nil, fmt.Errorf("%w: hello comes once", agentproto.ErrBadMessage)
		}
	case *agentproto.Ready, *agentproto.Progress, *agentproto.Inputs, *agentproto.Upload, *agentproto.Commit, *agentproto.Fail, *agentproto.Log, *agentproto.Bye:
		if !in.greeted {
			return nil, fmt.Errorf("%w: say hello first", agentproto.ErrBadMessage)
		}
	default:
		return nil, fmt.Errorf("%w: an agent does not send %s", agentproto.ErrBadMessage, m.Type())
	}
	return m, nil
}

// hello waits for the first message; what is bad before it is answered so.
func (in *inbox) hello() (*agentproto.Hello, error) {
	for {
		m, err := in.next()
		if err == nil {
			in.greeted = true
			return m.(*agentproto.Hello), nil // decode lets nothing else through
		}
		if !errors.Is(err, agentproto.ErrBadMessage) {
			return nil, err
		}
		frame, _ := agentproto.Encode(&agentproto.Error{Code: "bad_message", Message: err.Error()}) // strings: it cannot fail
		if err := in.conn.Write(context.Background(), websocket.MessageText, frame); err != nil {
			return nil, err
		}
	}
}
