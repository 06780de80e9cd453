package agentproto

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Time is an instant on the wire: RFC 3339 UTC with milliseconds.
type Time struct{ time.Time }

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func (t Time) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(timeLayout))
}

// RawJSON is JSON that this package passes on unread.
type RawJSON = json.RawMessage

// kinds makes an empty message of each type; a name is unique in both directions.
var kinds = map[string]func() Message{
	"hello":           func() Message { return new(Hello) },
	"ready":           func() Message { return new(Ready) },
	"progress":        func() Message { return new(Progress) },
	"inputs":          func() Message { return new(Inputs) },
	"upload":          func() Message { return new(Upload) },
	"commit":          func() Message { return new(Commit) },
	"fail":            func() Message { return new(Fail) },
	"log":             func() Message { return new(Log) },
	"bye":             func() Message { return new(Bye) },
	"hello_ok":        func() Message { return new(HelloOK) },
	"lease_offer":     func() Message { return new(LeaseOffer) },
	"progress_ok":     func() Message { return new(ProgressOK) },
	"inputs_ok":       func() Message { return new(InputsOK) },
	"upload_grant":    func() Message { return new(UploadGrant) },
	"lease_conflict":  func() Message { return new(LeaseConflict) },
	"lease_resumed":   func() Message { return new(LeaseResumed) },
	"lease_revoked":   func() Message { return new(LeaseRevoked) },
	"commit_accepted": func() Message { return new(CommitAccepted) },
	"commit_ok":       func() Message { return new(CommitOK) },
	"commit_rejected": func() Message { return new(CommitRejected) },
	"fail_ok":         func() Message { return new(FailOK) },
	"cancel":          func() Message { return new(Cancel) },
	"drain":           func() Message { return new(Drain) },
	"resume_work":     func() Message { return new(ResumeWork) },
	"error":           func() Message { return new(Error) },
}

func (*Hello) Type() string          { return "hello" }
func (*Ready) Type() string          { return "ready" }
func (*Progress) Type() string       { return "progress" }
func (*Inputs) Type() string         { return "inputs" }
func (*Upload) Type() string         { return "upload" }
func (*Commit) Type() string         { return "commit" }
func (*Fail) Type() string           { return "fail" }
func (*Log) Type() string            { return "log" }
func (*Bye) Type() string            { return "bye" }
func (*HelloOK) Type() string        { return "hello_ok" }
func (*LeaseOffer) Type() string     { return "lease_offer" }
func (*ProgressOK) Type() string     { return "progress_ok" }
func (*InputsOK) Type() string       { return "inputs_ok" }
func (*UploadGrant) Type() string    { return "upload_grant" }
func (*LeaseConflict) Type() string  { return "lease_conflict" }
func (*LeaseResumed) Type() string   { return "lease_resumed" }
func (*LeaseRevoked) Type() string   { return "lease_revoked" }
func (*CommitAccepted) Type() string { return "commit_accepted" }
func (*CommitOK) Type() string       { return "commit_ok" }
func (*CommitRejected) Type() string { return "commit_rejected" }
func (*FailOK) Type() string         { return "fail_ok" }
func (*Cancel) Type() string         { return "cancel" }
func (*Drain) Type() string          { return "drain" }
func (*ResumeWork) Type() string     { return "resume_work" }
func (*Error) Type() string          { return "error" }

// ErrBadMessage is returned for a frame that is no message of this protocol.
var ErrBadMessage = errors.New("bad message")

// Encode is m as a JSON text frame, its type first.
func Encode(m Message) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", m.Type(), err)
	}
	frame := append([]byte(`{"type":"`+m.Type()+`"`), ',')
	if bytes.Equal(body, []byte("{}")) {
		return append(frame[:len(frame)-1], '}'), nil
	}
	return append(frame, body[1:]...), nil
}

// Decode reads one frame. Unknown fields are ignored; an unknown type, or what
// does not parse, is ErrBadMessage.
func Decode(frame []byte) (Message, error) {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(frame, &head); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrBadMessage, plain(err))
	}
	make, ok := kinds[head.Type]
	if !ok {
		return nil, fmt.Errorf("%w: unknown type", ErrBadMessage)
	}
	m := make()
	if err := json.Unmarshal(frame, m); err != nil {
		return nil, fmt.Errorf("%w: %s: %s", ErrBadMessage, head.Type, plain(err))
	}
	return m, nil
}

// plain says what is wrong with a frame without repeating what it held, which
// may be a token.
func plain(err error) string {
	var ill *json.UnmarshalTypeError
	if errors.As(err, &ill) {
		field := ill.Field[strings.LastIndexByte(ill.Field, '.')+1:]
		return fmt.Sprintf("%s may not be a JSON %s", cmp.Or(field, "a message"), ill.Value)
	}
	return "not valid JSON"
}
