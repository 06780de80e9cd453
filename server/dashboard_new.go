package server

import (
	"context"
	"net/http"
	"slices"

	"rendermac/api"
	"rendermac/media"
	"rendermac/web"
)

// showNew offers what GET /v1/services lists.
func (s *Server) showNew(ctx context.Context, who call) (web.Page, error) {
	if who.key.Scope == scopeRead {
		return nil, refuse(http.StatusForbidden, api.CodeForbidden, "This key's scope is read: it looks on. Sign in with one of scope submit or admin to make jobs.")
	}
	online, err := s.o.DB.OnlineServices(ctx)
	if err != nil {
		return nil, err
	}
	page := web.New{Account: who.key.AccountID, StoreOrigin: s.o.StoreOrigin, MaxAttempts: s.o.MaxAttempts}
	for _, service := range s.o.Catalogue.All() {
		page.Offers = append(page.Offers, offerOf(service, online[service.Name]))
	}
	return page, nil
}

func offerOf(service *media.Service, online int) web.Offer {
	o := web.Offer{
		Name: service.Name, Title: service.Title, Online: online, Archive: service.Archive, Schema: service.Schema(),
		MinInputs: service.MinInputs, MaxInputs: service.MaxInputs,
	}
	builtIn, _ := media.Lookup(service.Name) // an own preset makes a service of its own
	for _, p := range service.Presets() {
		own := !slices.ContainsFunc(builtIn.Presets(), func(b media.Preset) bool { return b.Name == p.Name })
		o.Presets = append(o.Presets, web.OfferPreset{Name: p.Name, Title: p.Title, Own: own, Params: p.Params})
	}
	return o
}
