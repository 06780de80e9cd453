package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showNew(context.Context, call) (web.Page, error) { return web.New{}, nil }
