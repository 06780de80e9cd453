package server

import (
	"context"

	"rendermac/web"
)

func (s *Server) showDevices(context.Context, call) (web.Page, error) { return web.Devices{}, nil }
