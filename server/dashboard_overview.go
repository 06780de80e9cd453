package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showOverview(context.Context, call) (web.Page, error) { return web.Overview{}, nil }
