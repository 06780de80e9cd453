package server

import (
	"context"

	"rendermac/api"
)

// collectGarbage goes by the clock as it stands: whoever asks has looked at it.
func (s *Server) collectGarbage(ctx context.Context, _ call, in *struct{ Body api.GCRequest }) (*body[api.GC], error) {
	run := s.retention.collect
	if in.Body.DryRun {
		run = func(ctx context.Context) (api.GC, error) { return s.retention.report(ctx, true) }
	}
	report, err := run(ctx)
	if err != nil {
		return nil, err
	}
	return answerWith(report), nil
}
