package server

import (
	"context"
	"net/url"

	"rendermac/web"
)

const (
	accountsShown   = 50
	keysShown       = 50
	deliveriesShown = 20
)

// showSettings shows below admin what the key may ask the API for.
func (s *Server) showSettings(ctx context.Context, c call) (web.Page, error) {
	own, _, err := s.journal(ctx, c, &journalOf{ID: c.key.AccountID, Paging: Paging{Limit: 1}})
	if err != nil {
		return nil, err
	}
	content := web.Settings{Own: accountFacts(own), Presets: s.presets()}
	if !c.isAdmin() {
		return content, nil
	}
	if content.Admin, err = s.adminSettings(ctx, c); err != nil {
		return nil, err
	}
	return content, nil
}

func (s *Server) adminSettings(ctx context.Context, c call) (*web.AdminSettings, error) {
	var a web.AdminSettings
	var err error
	names := s.accountNames(ctx)
	if a.Accounts, err = s.accountsShown(ctx, c); err != nil {
		return nil, err
	}
	if a.Keys, err = s.keysShown(ctx, c, names); err != nil {
		return nil, err
	}
	if a.Deliveries, err = s.deliveriesShown(ctx, c, names); err != nil {
		return nil, err
	}
	if a.Storage, err = s.storageFacts(); err != nil {
		return nil, err
	}
	a.Backups = s.backupFacts()
	a.Server, err = s.serverFacts(ctx, c)
	return &a, err
}

// paging reads a list's cursor from the page's address, as the API's route would.
func (c call) paging(list, route string, limit int) (Paging, error) {
	p := Paging{Limit: limit, Cursor: c.echo.QueryParam(list)}
	return p, p.open(route)
}

// turning leads on in one list of the page, with the others where they are.
func (c call) turning(list, section string, next *string) (to web.Paging) {
	at := func(cursor string) string {
		query := c.echo.QueryParams()
		kept := url.Values{}
		for name := range query {
			kept.Set(name, query.Get(name))
		}
		kept.Del(list)
		if cursor != "" {
			kept.Set(list, cursor)
		}
		address := c.echo.Request().URL.Path
		if len(kept) > 0 {
			address += "?" + kept.Encode()
		}
		return address + section
	}
	if c.echo.QueryParam(list) != "" {
		to.First = at("")
	}
	if next != nil {
		to.Next = at(*next)
	}
	return to
}

// accountNames looks each account's name up once.
func (s *Server) accountNames(ctx context.Context) func(id string) (string, error) {
	known := map[string]string{}
	return func(id string) (name string, err error) {
		if name, ok := known[id]; ok {
			return name, nil
		}
		name, err = s.o.DB.AccountName(ctx, id)
		known[id] = name
		return name, err
	}
}
