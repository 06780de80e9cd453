package qualify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"rendermac/api"
)

// accountsScript makes an account with a key, changes it, gives it a new secret,
// and revokes the key.
func (d *day) accountsScript() {
	d.number++
	a := d.newAccount(fmt.Sprint("customer ", d.number))
	limit := int64(100 + d.number)
	changed := must(insist(d, "change an account", func() (*api.Account, error) {
		return d.client.ChangeAccount(context.Background(), a.ID, api.AccountChange{CreditLimit: new(&limit)})
	}))(d)
	renewed := must(insist(d, "replace a webhook secret", func() (*api.AccountSecret, error) {
		return d.client.ReplaceWebhookSecret(context.Background(), a.ID)
	}))(d)
	d.accounts[a.ID] = fmt.Sprint(changed.Name, " ", *changed.CreditLimit, " ", renewed.WebhookSecret)
	key := must(insist(d, "make a key", func() (*api.KeyCreated, error) {
		return d.client.CreateKey(context.Background(), api.KeyRequest{Name: "script", AccountID: a.ID, Scope: "read"})
	}))(d)
	d.keys[key.ID] = false
	customer := api.NewClient(d.url, key.Plaintext, "test")
	must(insist(d, "use the key", func() (*api.Journal, error) { return customer.Journal(context.Background(), a.ID, 1, "") }))(d)
	must(insist(d, "revoke the key", func() (bool, error) { return true, d.client.RevokeKey(context.Background(), key.ID) }))(d)
	d.keys[key.ID] = true
	_, _, err := insist(d, "use the revoked key", func() (*api.Journal, error) { return customer.Journal(context.Background(), a.ID, 1, "") })
	if refused := new(api.Error); !errors.As(err, &refused) || refused.Status != 401 {
		d.Errorf("a revoked key was answered: %v", err)
	}
}

// newAccount makes an account. If the answer was lost it is in the list.
func (d *day) newAccount(name string) (a api.Account) {
	d.Helper()
	made, sure, err := insist(d, "make an account", func() (*api.AccountSecret, error) {
		return d.client.CreateAccount(context.Background(), api.AccountRequest{Name: name})
	})
	if refused := new(api.Error); !sure && errors.As(err, &refused) && refused.Status == 422 {
		list := must(insist(d, "list the accounts", func() ([]api.Account, error) { return d.client.Accounts(context.Background()) }))(d)
		if at := slices.IndexFunc(list, func(a api.Account) bool { return a.Name == name }); at >= 0 {
			return list[at]
		}
	}
	if err != nil {
		d.Fatal(err)
	}
	return made.Account
}

// keptAccounts holds what an admin was told of accounts and keys against their rows.
func (d *day) keptAccounts() (all []string) {
	d.Helper()
	accounts := d.list(`SELECT id || ' ' || name || ' ' || coalesce(credit_limit, '') || ' ' || webhook_secret FROM accounts`)
	for id, is := range d.accounts {
		if !slices.Contains(accounts, id+" "+is) {
			all = append(all, "an account is lost, or another than was said: "+id)
		}
	}
	keys := d.list(`SELECT id || ' ' || (revoked_at IS NOT NULL) FROM api_keys`)
	for id, revoked := range d.keys {
		if !slices.Contains(keys, id+map[bool]string{true: " 1", false: " 0"}[revoked]) {
			all = append(all, "a key was made or revoked, and that is lost: "+id)
		}
	}
	return all
}
