package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rendermac/agentproto"
)

const (
	answerTime = time.Minute     // after that a request is made again
	busyTime   = 5 * time.Second // where the server does not say when to come back
)

// errUnanswered is a request that a lost socket took with it.
var errUnanswered = errors.New("the request was not answered")

// request makes a message of the identity that the run has on the wire now.
type request func(ids agentproto.IDs, token string) agentproto.Message

// insist asks until there is an answer. A socket that drops in between means:
// ask again, as soon as a session knows the run again (F17).
func (l *lease) insist(ctx context.Context, q request) (agentproto.Message, error) {
	for {
		answer, err := l.ask(ctx, q)
		if !errors.Is(err, errUnanswered) {
			return answer, err
		}
	}
}

// ask sends a request as soon as a session knows the run, and returns its
// answer. A server that is busy is asked again when it said.
func (l *lease) ask(ctx context.Context, q request) (agentproto.Message, error) {
	for {
		answer, err := l.askOnce(ctx, q)
		busy, ok := answer.(*agentproto.Error)
		if err != nil || !ok || busy.Code != "busy" {
			return answer, err
		}
		wait := busyTime
		if busy.RetryAfterS != nil {
			wait = busy.RetryAfterS.Duration()
		}
		if err := l.now.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (l *lease) askOnce(ctx context.Context, q request) (agentproto.Message, error) {
	var on *link
	var message agentproto.Message
	answers := make(chan agentproto.Message, 1)
	err := l.await(ctx, func() bool {
		if l.link != nil {
			on, message = l.link, q(l.ids, l.token)
			l.answers, l.asked = answers, l.now()
		}
		return l.link != nil
	})
	if err != nil {
		return nil, err
	}
	if err := on.send(message); errors.Is(err, errTooBig) {
		return nil, err
	}
	select {
	case answer := <-answers:
		return answer, nil
	case <-on.gone:
		return nil, errUnanswered
	case <-time.After(answerTime):
		return nil, errUnanswered
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// refused is the error of an answer that is not the one hoped for.
func refused(what string, answer agentproto.Message) error {
	if e, ok := answer.(*agentproto.Error); ok {
		return fmt.Errorf("the server refused %s: %s", what, e.Message)
	}
	return fmt.Errorf("the server answered %s with %s", what, answer.Type())
}
