package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Delivery is one webhook and what has come of it so far.
type Delivery struct {
	ID          string     `json:"id" example:"whd_01kbd3m8q5w9x2c7e4r6t8y0za" doc:"what the receiver sees as webhook-id"`
	AccountID   string     `json:"account_id"`
	JobID       string     `json:"job_id"`
	URL         string     `json:"url" doc:"the job's webhook_url"`
	Type        string     `json:"type" enum:"job.started,job.succeeded,job.failed,job.cancelled"`
	State       string     `json:"state" enum:"pending,delivered,failed"`
	Tries       int        `json:"tries" doc:"of ten"`
	NextTryAt   *time.Time `json:"next_try_at" doc:"null once it is delivered or has failed"`
	LastStatus  *int       `json:"last_status" doc:"of the last answer; null where the last try had none"`
	LastError   *string    `json:"last_error" doc:"why the last try did not count"`
	CreatedAt   time.Time  `json:"created_at"`
	DeliveredAt *time.Time `json:"delivered_at"`
}

// Deliveries is one page of webhooks, newest first, in this state ("" is any).
func (c *Client) Deliveries(ctx context.Context, state string, limit int) (*List[Delivery], error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if state != "" {
		q.Set("state", state)
	}
	return call[List[Delivery]](ctx, c, http.MethodGet, "/v1/webhooks/deliveries?"+q.Encode(), nil)
}

// Redeliver begins a delivery anew.
func (c *Client) Redeliver(ctx context.Context, id string) (*Delivery, error) {
	return call[Delivery](ctx, c, http.MethodPost, "/v1/webhooks/deliveries/"+url.PathEscape(id)+"/redeliver", nil)
}
