package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Accounts are all accounts, the oldest first.
func (c *Client) Accounts(ctx context.Context) ([]Account, error) {
	return all[Account](ctx, c, "/v1/accounts")
}

// CreateAccount makes an account. Its webhook secret is shown this once.
func (c *Client) CreateAccount(ctx context.Context, r AccountRequest) (*AccountSecret, error) {
	return call[AccountSecret](ctx, c, http.MethodPost, "/v1/accounts", r)
}

// ChangeAccount sets an account's name or credit limit.
func (c *Client) ChangeAccount(ctx context.Context, id string, r AccountChange) (*Account, error) {
	return call[Account](ctx, c, http.MethodPatch, "/v1/accounts/"+url.PathEscape(id), r)
}

// ReplaceWebhookSecret makes a new webhook secret; the one before signs beside
// it for 24 h.
func (c *Client) ReplaceWebhookSecret(ctx context.Context, id string) (*AccountSecret, error) {
	return call[AccountSecret](ctx, c, http.MethodPost, "/v1/accounts/"+url.PathEscape(id)+"/webhook-secret", nil)
}

// Journal is one page of an account's movements, newest first, and its balances.
func (c *Client) Journal(ctx context.Context, id string, limit int, cursor string) (*Journal, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return call[Journal](ctx, c, http.MethodGet, "/v1/accounts/"+url.PathEscape(id)+"/journal?"+q.Encode(), nil)
}

// Keys are all keys, revoked ones too, the oldest first.
func (c *Client) Keys(ctx context.Context) ([]Key, error) {
	return all[Key](ctx, c, "/v1/keys")
}

// CreateKey makes a key. Its plaintext is shown this once.
func (c *Client) CreateKey(ctx context.Context, r KeyRequest) (*KeyCreated, error) {
	return call[KeyCreated](ctx, c, http.MethodPost, "/v1/keys", r)
}

// RevokeKey ends a key, and the dashboard's sessions that it has opened.
func (c *Client) RevokeKey(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, c, http.MethodDelete, "/v1/keys/"+url.PathEscape(id), nil)
	return err
}
