package api

import (
	"context"
	"net/http"
)

// Stats is how the queue stands and how the last 24 h went.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return call[Stats](ctx, c, http.MethodGet, "/v1/stats", nil)
}
