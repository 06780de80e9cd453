package server

import (
	"context"
	"math"
	"strconv"

	"rendermac/api"
	"rendermac/store"
)

type accountID struct {
	ID string `path:"id"`
}

func (s *Server) listAccounts(ctx context.Context, _ call, in *struct{ Paging }) (*body[api.List[api.Account]], error) {
	list, err := s.o.DB.Accounts(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return page(list, in.Limit, func(a store.Account) string { return a.ID }, showAccount), nil
}

func (s *Server) createAccount(ctx context.Context, _ call, in *struct{ Body api.AccountRequest }) (*body[api.AccountSecret], error) {
	if err := checkName(in.Body.Name); err != nil {
		return nil, err
	}
	a, secret, err := s.o.DB.CreateAccount(ctx, in.Body.Name, in.Body.CreditLimit)
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("account created", "account", a.ID, "name", a.Name)
	return answerWith(api.AccountSecret{Account: showAccount(a), WebhookSecret: secret}), nil
}

func (s *Server) changeAccount(ctx context.Context, _ call, in *struct {
	ID   string `path:"id"`
	Body api.AccountChange
},
) (*body[api.Account], error) {
	if in.Body.Name != nil {
		if err := checkName(*in.Body.Name); err != nil {
			return nil, err
		}
	}
	a, err := s.o.DB.ChangeAccount(ctx, in.ID, store.AccountChange(in.Body))
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("account changed", "account", a.ID)
	return answerWith(showAccount(a)), nil
}

func (s *Server) replaceWebhookSecret(ctx context.Context, _ call, in *accountID) (*body[api.AccountSecret], error) {
	a, secret, err := s.o.DB.ReplaceWebhookSecret(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("webhook secret replaced", "account", a.ID)
	return answerWith(api.AccountSecret{Account: showAccount(a), WebhookSecret: secret}), nil
}

func (s *Server) getJournal(ctx context.Context, c call, in *journalOf) (*body[api.Journal], error) {
	a, movements, err := s.journal(ctx, c, in)
	if err != nil {
		return nil, err
	}
	return answerWith(api.Journal{
		Items: movements.Items, NextCursor: movements.NextCursor,
		Balances: api.Balances{Available: a.Left(), Held: a.Held, Spent: a.Spent},
	}), nil
}

type journalOf struct {
	ID string `path:"id"`
	Paging
}

func (s *Server) journal(ctx context.Context, c call, in *journalOf) (a store.Account, movements api.List[api.Movement], err error) {
	before := int64(math.MaxInt64)
	if in.Cursor != "" {
		if before, err = strconv.ParseInt(in.Cursor, 10, 64); err != nil {
			return a, movements, invalid(api.Fault{Location: "query.cursor", Message: "is no next_cursor of this list"})
		}
	}
	if !c.sees(in.ID) {
		return a, movements, notFound("account")
	}
	a, list, err := s.o.DB.Journal(ctx, in.ID, before, in.Limit+1)
	if err != nil {
		return a, movements, err
	}
	return a, page(list, in.Limit, func(m store.Movement) string { return strconv.FormatInt(m.ID, 10) }, showMovement).Body, nil
}

func showAccount(a store.Account) api.Account {
	return api.Account{ID: a.ID, Name: a.Name, CreditLimit: a.CreditLimit, Held: a.Held, Spent: a.Spent, CreatedAt: a.CreatedAt}
}

func showMovement(m store.Movement) api.Movement {
	return api.Movement{
		ID: m.ID, At: m.At, Kind: m.Kind, JobID: m.JobID, Debit: m.Debit, Credit: m.Credit, Amount: m.Amount, Held: m.Held, Spent: m.Spent,
	}
}
