package api

import (
	"context"
	"net/http"
)

// GCRequest asks for what is too old, or too much, to be removed.
type GCRequest struct {
	DryRun bool `json:"dry_run,omitempty" doc:"only say what would go"`
}

// GC is what has gone, or would.
type GC struct {
	DryRun      bool  `json:"dry_run"`
	Outputs     Freed `json:"outputs"`
	Uploads     Freed `json:"uploads"`
	OpenUploads Freed `json:"open_uploads" doc:"announced and never completed; bytes as announced"`
	Logs        int64 `json:"logs"`
	Events      int64 `json:"events"`
	Deliveries  int64 `json:"deliveries"`
}

// Freed is some files.
type Freed struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// GC removes what is too old or too much, or says what that would be.
func (c *Client) GC(ctx context.Context, dry bool) (*GC, error) {
	return call[GC](ctx, c, http.MethodPost, "/v1/gc", GCRequest{DryRun: dry})
}
