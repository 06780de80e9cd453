package server

import (
	"context"

	"rendermac/api"
	"rendermac/media"
)

func (s *Server) listServices(ctx context.Context, _ call, in *struct{ Paging }) (*body[api.List[api.Service]], error) {
	online, err := s.o.DB.OnlineServices(ctx)
	if err != nil {
		return nil, err
	}
	list := s.o.Catalogue.All() // by name
	for len(list) > 0 && list[0].Name <= in.Cursor {
		list = list[1:]
	}
	return page(list[:min(len(list), in.Limit+1)], in.Limit, func(v *media.Service) string { return v.Name },
		func(v *media.Service) api.Service { return showService(v, online[v.Name]) }), nil
}

func showService(v *media.Service, online int) api.Service {
	out := api.Service{Name: v.Name, Title: v.Title, Params: v.Schema(), Presets: []api.Preset{}, DevicesOnline: online}
	for _, p := range v.Presets() {
		out.Presets = append(out.Presets, api.Preset(p))
	}
	return out
}
