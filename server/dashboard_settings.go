package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showSettings(context.Context, call) (web.Page, error) { return web.Settings{}, nil }
