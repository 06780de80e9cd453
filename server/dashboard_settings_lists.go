package server

import (
	"context"
	"math"
	"slices"
	"time"

	"rendermac/api"
	"rendermac/store"
	"rendermac/web"
)

func (s *Server) accountsShown(ctx context.Context, c call) (shown web.Accounts, err error) {
	in := struct{ Paging }{}
	if in.Paging, err = c.paging("accounts", "listAccounts", accountsShown); err != nil {
		return shown, err
	}
	list, err := s.o.DB.Accounts(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return shown, err
	}
	rows := page(list, in.Limit, func(a store.Account) string { return a.ID }, accountFacts)
	rows.seal("listAccounts")
	return web.Accounts{Rows: rows.Body.Items, Paging: c.turning("accounts", "#accounts", rows.Body.NextCursor)}, nil
}

func accountFacts(a store.Account) web.Account {
	return web.Account{ID: a.ID, Name: a.Name, Limit: a.CreditLimit, Left: a.Left(), Held: a.Held, Spent: a.Spent, CreatedAt: a.CreatedAt}
}

func (s *Server) keysShown(ctx context.Context, c call, nameOf func(string) (string, error)) (shown web.Keys, err error) {
	in := struct{ Paging }{}
	if in.Paging, err = c.paging("keys", "newestKeys", keysShown); err != nil {
		return shown, err
	}
	shown.Revoked = c.echo.QueryParam("revoked") != ""
	list, err := s.o.DB.NewestKeys(ctx, shown.Revoked, in.Cursor, in.Limit+1)
	if err != nil {
		return shown, err
	}
	rows := page(list, in.Limit, func(k store.Key) string { return k.ID }, showKey)
	rows.seal("newestKeys")
	for _, k := range rows.Body.Items {
		account, err := nameOf(k.AccountID)
		if err != nil {
			return shown, err
		}
		shown.Rows = append(shown.Rows, web.Key{
			ID: k.ID, Name: k.Name, Account: account, Scope: k.Scope, CreatedAt: k.CreatedAt, RevokedAt: k.RevokedAt, Own: k.ID == c.key.ID,
		})
	}
	shown.Paging = c.turning("keys", "#api-keys", rows.Body.NextCursor)
	return shown, nil
}

func (s *Server) deliveriesShown(ctx context.Context, c call, nameOf func(string) (string, error)) (shown web.Deliveries, err error) {
	in := deliveriesOf{State: c.echo.QueryParam("state")}
	if !slices.Contains([]string{"", "pending", "delivered", "failed"}, in.State) {
		return shown, invalid(api.Fault{Location: "query.state", Message: "must be pending, delivered or failed"})
	}
	if in.Paging, err = c.paging("deliveries", "listDeliveries", deliveriesShown); err != nil {
		return shown, err
	}
	list, err := s.listDeliveries(ctx, c, &in)
	if err != nil {
		return shown, err
	}
	list.seal("listDeliveries")
	shown.State = in.State
	for _, d := range list.Body.Items {
		account, err := nameOf(d.AccountID)
		if err != nil {
			return shown, err
		}
		shown.Rows = append(shown.Rows, deliveryFacts(d, account))
	}
	shown.Again = s.againIn(list.Body.Items)
	shown.Paging = c.turning("deliveries", "#webhooks", list.Body.NextCursor)
	return shown, nil
}

func deliveryFacts(d api.Delivery, account string) web.Delivery {
	return web.Delivery{
		ID: d.ID, JobID: d.JobID, Account: account, URL: d.URL, Event: d.Type, State: d.State, Tries: d.Tries,
		LastStatus: d.LastStatus, LastError: orEmpty(d.LastError), NextTry: d.NextTryAt, CreatedAt: d.CreatedAt,
	}
}

// againIn is in how many seconds the first of them is tried next, and not before
// a second has gone: a try that is due may be under way. Zero is that none is.
func (s *Server) againIn(list []api.Delivery) int {
	first := time.Duration(math.MaxInt64)
	for _, d := range list {
		if d.NextTryAt != nil {
			first = min(first, d.NextTryAt.Sub(s.o.Now()))
		}
	}
	if first == math.MaxInt64 {
		return 0
	}
	return int(max(time.Second, first)/time.Second) + 1
}
