package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showJob(context.Context, call) (web.Page, error) { return web.Job{}, nil }
