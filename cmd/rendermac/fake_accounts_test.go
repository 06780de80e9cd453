package main

import (
	"net/http"
	"time"

	"rendermac/api"
)

var (
	fakeDay      = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	fakeAccounts = api.List[api.Account]{Items: []api.Account{
		{ID: "acc_1", Name: "studio", Held: 4, Spent: 10, CreatedAt: fakeDay},
		{ID: "acc_2", Name: "acme\x1b[31m", CreditLimit: new(int64(500)), CreatedAt: fakeDay},
	}}
	fakeKeys = api.List[api.Key]{Items: []api.Key{
		{ID: "key_1", Name: "first start", AccountID: "acc_1", Scope: "admin", CreatedAt: fakeDay},
		{ID: "key_2", Name: "ci", AccountID: "acc_1", Scope: "submit", CreatedAt: fakeDay, RevokedAt: &fakeDay},
	}}
	fakeJournal = api.Journal{
		Items:      []api.Movement{{ID: 2, At: fakeDay, Kind: "capture", JobID: new("job_1"), Debit: "held", Credit: "spent", Amount: 3, Held: 4, Spent: 10}},
		NextCursor: new("2"), Balances: api.Balances{Held: 4, Spent: 10, Available: new(int64(-2))},
	}
)

const (
	fakeSecret = "whsec_c2VjcmV0"
	newFakeKey = "rm_new"
)

// accountRoutes is the fake's side of accounts and keys.
func (f *fakeServer) accountRoutes(keyed func(string, func(http.ResponseWriter, *http.Request))) {
	keyed("GET /v1/accounts", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, fakeAccounts) })
	keyed("POST /v1/accounts", func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		respond(w, 201, api.AccountSecret{Account: fakeAccounts.Items[1], WebhookSecret: fakeSecret})
	})
	keyed("PATCH /v1/accounts/acc_1", func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		respond(w, 200, fakeAccounts.Items[0])
	})
	keyed("POST /v1/accounts/acc_1/webhook-secret", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 201, api.AccountSecret{Account: fakeAccounts.Items[0], WebhookSecret: fakeSecret})
	})
	keyed("GET /v1/accounts/acc_1/journal", func(w http.ResponseWriter, r *http.Request) {
		f.asked = append(f.asked, r.URL.RawQuery)
		respond(w, 200, fakeJournal)
	})
	keyed("GET /v1/keys", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, fakeKeys) })
	keyed("POST /v1/keys", func(w http.ResponseWriter, r *http.Request) {
		f.note(r)
		respond(w, 201, api.KeyCreated{Key: api.Key{ID: "key_3"}, Plaintext: newFakeKey})
	})
	keyed("DELETE /v1/keys/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "key_1" {
			refuse(w, 409, api.CodeLastAdminKey, "This is the last admin key: make another one first, then revoke this one.")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}
