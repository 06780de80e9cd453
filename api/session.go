package api

import (
	"context"
	"net/http"
	"time"
)

// SignIn is a fresh link to the dashboard.
type SignIn struct {
	URL       string    `json:"url" example:"http://127.0.0.1:7420/sign-in#rml_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" doc:"signs in as the key that asked; works once"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SessionRequest signs in to the dashboard, by one of the two.
type SessionRequest struct {
	Token string `json:"token,omitempty" maxLength:"200" doc:"of a sign-in link: what stands after its #"`
	Key   string `json:"key,omitempty" maxLength:"200" doc:"an API key"`
}

// CreateSignIn makes a link that signs in to the dashboard as this client's key.
func (c *Client) CreateSignIn(ctx context.Context) (*SignIn, error) {
	return call[SignIn](ctx, c, http.MethodPost, "/v1/sign-ins", nil)
}
