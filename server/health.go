package server

import (
	"context"
	"net/http"
	"strings"

	"rendermac/api"
)

// health is the answer of /healthz and /readyz.
type health struct {
	Status string `json:"status" example:"ok"`
}

func (s *Server) live(context.Context, call, *struct{}) (*body[health], error) {
	return answerWith(health{"ok"}), nil
}

// ready says whether a write would succeed just now, in the database and in the
// artifact store.
func (s *Server) ready(ctx context.Context, _ call, _ *struct{}) (*body[health], error) {
	if away := s.away(ctx); away != nil {
		return nil, degraded(away)
	}
	return answerWith(health{"ok"}), nil
}

// away is what takes no writes just now.
func (s *Server) away(ctx context.Context) (away []string) {
	if err := s.o.DB.Writable(ctx); err != nil {
		s.o.Log.Warn("not ready", "what", "database", "err", err)
		away = append(away, "database")
	}
	err := s.o.Artifacts.Check(ctx)
	switch {
	case err == nil:
		s.outage.over()
	case !s.outage.met(err):
		s.o.Log.Warn("not ready", "what", "artifact store", "err", err)
	}
	if err != nil {
		away = append(away, "artifact store")
	}
	return away
}

func degraded(away []string) error {
	what := sentence("the " + strings.Join(away, " and the ") + " can take no writes just now")
	r := refuse(http.StatusServiceUnavailable, api.CodeStoreUnavailable, what+" The server is degraded; its log says why.")
	r.whole = api.Degraded{Problem: r.document, Health: "degraded", Away: away}
	return r
}
