package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"rendermac/artifact"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/media"
	"rendermac/media/probe"
	"rendermac/store"
)

// finding is what a check found out: what the media is, or why it is not what
// was promised.
type finding struct {
	media         json.RawMessage
	code, message string
}

func wrong(format string, args ...any) finding {
	return finding{code: fence.VerificationFailed, message: fmt.Sprintf(format, args...)}
}

// verify publishes what was uploaded, hashes it itself, and reads it (F7, F16).
// An error means that the store could not be read.
func (s *Server) verify(ctx context.Context, v *store.Verification) (finding, error) {
	failpoint.At("server.verify")
	info, err := s.o.Artifacts.Complete(ctx, v.OutputKey)
	switch {
	case errors.Is(err, artifact.ErrIncomplete), errors.Is(err, artifact.ErrNotFound):
		return wrong("parts of the result were never uploaded"), nil
	case err != nil:
		return finding{}, err
	case info.Bytes != v.Claimed.Bytes:
		return wrong("the stored result has %d bytes, the Mac said %d", info.Bytes, v.Claimed.Bytes), nil
	case info.SHA256 != v.Claimed.SHA256:
		return wrong("the stored result's SHA-256 is not what the Mac said"), nil
	}
	object, _, err := s.o.Artifacts.Open(ctx, v.OutputKey)
	if err != nil {
		return finding{}, err
	}
	defer object.Close()
	m, err := probe.File(object, info.Bytes)
	var bad *probe.Error
	if errors.As(err, &bad) || errors.Is(err, probe.ErrUnknown) {
		return wrong("the stored result is no media: %s", err), nil
	}
	if err != nil {
		return finding{}, err
	}
	if err := expectation(v).Check(m); err != nil {
		return wrong("%s", err), nil
	}
	if s.o.Decoder != nil {
		left := s.o.VerifyDeadline - s.o.Now().Sub(v.StartedAt)
		complaint, err := s.decode(ctx, object, info, m.Container, left)
		if err != nil {
			return finding{}, err
		}
		if complaint != "" {
			return wrong("the stored result cannot be decoded: %s", complaint), nil
		}
	}
	facts, err := json.Marshal(m)
	return finding{media: facts}, err
}

func expectation(v *store.Verification) media.Expectation {
	service, _ := media.Lookup(v.Service) // it was found when the job was submitted
	inputs := make([]*probe.Media, len(v.Inputs))
	for i, raw := range v.Inputs {
		if m := new(probe.Media); len(raw) > 0 && json.Unmarshal(raw, m) == nil {
			inputs[i] = m
		}
	}
	var said []json.RawMessage
	_ = json.Unmarshal(v.InputMedia, &said) // our own row, or nothing
	return service.Expect(v.Params, inputs, said)
}
