package server

import (
	"context"

	"rendermac/api"
	"rendermac/store"
)

func (s *Server) listKeys(ctx context.Context, _ call, in *struct{ Paging }) (*body[api.List[api.Key]], error) {
	list, err := s.o.DB.Keys(ctx, in.Cursor, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return page(list, in.Limit, func(k store.Key) string { return k.ID }, showKey), nil
}

func (s *Server) createKey(ctx context.Context, c call, in *struct{ Body api.KeyRequest }) (*body[api.KeyCreated], error) {
	if err := checkName(in.Body.Name); err != nil {
		return nil, err
	}
	k, plaintext, err := s.o.DB.CreateKey(ctx, store.NewKey{AccountID: in.Body.AccountID, Name: in.Body.Name, Scope: in.Body.Scope})
	if err != nil {
		return nil, err
	}
	s.o.Log.Info("key created", "key", k.ID, "account", k.AccountID, "scope", k.Scope, "by", c.key.ID)
	return answerWith(api.KeyCreated{Key: showKey(k), Plaintext: plaintext}), nil
}

func (s *Server) revokeKey(ctx context.Context, c call, in *struct {
	ID string `path:"id"`
},
) (*struct{}, error) {
	if err := s.o.DB.RevokeKey(ctx, in.ID); err != nil {
		return nil, err
	}
	s.feed.doubt()
	s.o.Log.Info("key revoked", "key", in.ID, "by", c.key.ID)
	return nil, nil
}

func showKey(k store.Key) api.Key {
	return api.Key{ID: k.ID, Name: k.Name, AccountID: k.AccountID, Scope: k.Scope, CreatedAt: k.CreatedAt, RevokedAt: k.RevokedAt}
}

// checkName refuses what nobody could read; the schema has seen to the length.
func checkName(name string) error {
	if !isLabel(name) {
		return invalid(api.Fault{Location: "name", Message: unreadable})
	}
	return nil
}
