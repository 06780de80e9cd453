package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showJobs(context.Context, call) (web.Page, error) { return web.Jobs{}, nil }
