package server

import (
	"context"
	"net/http"

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
	if err := s.o.DB.Writable(ctx); err != nil {
		return nil, s.notReady("database", err)
	}
	if err := s.o.Artifacts.Check(ctx); err != nil {
		return nil, s.notReady("artifact store", err)
	}
	return answerWith(health{"ok"}), nil
}

func (s *Server) notReady(what string, err error) error {
	s.o.Log.Warn("not ready", "what", what, "err", err)
	return refuse(http.StatusServiceUnavailable, api.CodeStoreUnavailable, "The "+what+" takes no writes just now; the server's log says why.")
}
