package server

import (
	"errors"
	"testing"

	"rendermac/api"
)

// The client that the command line uses understands every answer.
func TestClient_AccountsAndKeys(t *testing.T) {
	h := mustServe(t)
	ctx, c := t.Context(), api.NewClient(h.url, h.admin, "test")
	made, err := c.CreateAccount(ctx, api.AccountRequest{Name: "acme", CreditLimit: ptr(int64(5))})
	if err != nil || made.WebhookSecret == "" || *made.CreditLimit != 5 {
		t.Fatalf("made %+v, %v", made, err)
	}
	for _, step := range []struct {
		change api.AccountChange
		name   string
		limit  *int64
	}{
		{api.AccountChange{Name: ptr("acme 2")}, "acme 2", ptr(int64(5))},
		{api.AccountChange{CreditLimit: ptr(ptr(int64(9)))}, "acme 2", ptr(int64(9))},
		{api.AccountChange{CreditLimit: new(*int64)}, "acme 2", nil},
	} {
		a, err := c.ChangeAccount(ctx, made.ID, step.change)
		if err != nil || a.Name != step.name || (a.CreditLimit == nil) != (step.limit == nil) || step.limit != nil && *a.CreditLimit != *step.limit {
			t.Errorf("changed to %+v, %v", a, err)
		}
	}
	again, err := c.ReplaceWebhookSecret(ctx, made.ID)
	if err != nil || again.WebhookSecret == made.WebhookSecret {
		t.Errorf("a new secret: %+v, %v", again, err)
	}
	accounts, err := c.Accounts(ctx)
	if err != nil || len(accounts) != 3 {
		t.Errorf("accounts %+v, %v", accounts, err)
	}
	key, err := c.CreateKey(ctx, api.KeyRequest{Name: "ci", AccountID: made.ID, Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := api.NewClient(h.url, key.Plaintext, "test").Journal(ctx, made.ID, 1, sealCursor("getJournal", "99"))
	if err != nil || j.Balances.Available != nil || len(j.Items) != 0 {
		t.Errorf("journal %+v, %v", j, err)
	}
	if err := c.RevokeKey(ctx, key.ID); err != nil {
		t.Error(err)
	}
	keys, err := c.Keys(ctx)
	if err != nil || len(keys) != 8 {
		t.Errorf("keys %+v, %v", keys, err)
	}
	refused := new(api.Error)
	if err := c.RevokeKey(ctx, "key_0"); !errors.As(err, &refused) || refused.Code != api.CodeNotFound {
		t.Errorf("an unknown key: %v", err)
	}
}
