package api

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Submit makes a job, and one only, though its answer may be lost on the way.
func (c *Client) Submit(ctx context.Context, r JobRequest) (*Job, error) {
	return once[Job](ctx, c, "/v1/jobs", r)
}

// SubmitBatch makes all of these jobs or none, and once, as Submit does.
func (c *Client) SubmitBatch(ctx context.Context, jobs []JobRequest) (*Batch, error) {
	return once[Batch](ctx, c, "/v1/jobs/batch", BatchRequest{Jobs: jobs})
}

// Retry submits the request of a job that has ended once more.
func (c *Client) Retry(ctx context.Context, id string) (*Job, error) {
	return once[Job](ctx, c, jobPath(id)+"/retry", nil)
}

func jobPath(id string) string { return "/v1/jobs/" + url.PathEscape(id) }

// Job is one job, whole.
func (c *Client) Job(ctx context.Context, id string) (*Job, error) {
	return call[Job](ctx, c, http.MethodGet, jobPath(id), nil)
}

// Cancel cancels a job; it may take a moment to end.
func (c *Client) Cancel(ctx context.Context, id string) (*Job, error) {
	return call[Job](ctx, c, http.MethodPost, jobPath(id)+"/cancel", nil)
}

// Prioritize moves a queued job in its queue.
func (c *Client) Prioritize(ctx context.Context, id string, priority int) (*Job, error) {
	return call[Job](ctx, c, http.MethodPatch, jobPath(id), JobChange{Priority: priority})
}

// maxLog bounds what is read of an attempt's log; the server keeps 64 KiB.
const maxLog = 1 << 20

// Log is the kept tail of an attempt's log.
func (c *Client) Log(ctx context.Context, id string, attempt int) ([]byte, error) {
	response, err := c.request(ctx, http.MethodGet, jobPath(id)+"/attempts/"+strconv.Itoa(attempt)+"/log", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, problem(response)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxLog))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return text, nil
}

// JobQuery narrows a list of jobs; what is empty does not.
type JobQuery struct {
	Status, Service, Account, Device string
	Labels                           []string // key:value, each of them
	Query                            string
	Since, Until                     time.Time
	Limit                            int // 0 is all
	Cursor                           string
}

const maxPage = 500

// Jobs are the newest jobs that the query asks for. A page that has looked
// through many jobs may be short, so it takes as many pages as it needs.
func (c *Client) Jobs(ctx context.Context, q JobQuery) (*List[JobItem], error) {
	list := &List[JobItem]{Items: []JobItem{}, NextCursor: &q.Cursor}
	for list.NextCursor != nil && (q.Limit == 0 || len(list.Items) < q.Limit) {
		page := min(maxPage, cmp.Or(q.Limit, maxPage+len(list.Items))-len(list.Items))
		next, err := again(ctx, c, func() (*List[JobItem], error) {
			return call[List[JobItem]](ctx, c, http.MethodGet, "/v1/jobs?"+q.values(page, *list.NextCursor).Encode(), nil)
		})
		if err != nil {
			return nil, err
		}
		list.Items, list.NextCursor = append(list.Items, next.Items...), next.NextCursor
	}
	return list, nil
}

func (q JobQuery) values(limit int, cursor string) url.Values {
	v := url.Values{"limit": {strconv.Itoa(limit)}, "label": q.Labels}
	for name, value := range map[string]string{
		"status": q.Status, "service": q.Service, "account": q.Account, "device": q.Device, "q": q.Query, "cursor": cursor,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for name, at := range map[string]time.Time{"since": q.Since, "until": q.Until} {
		if !at.IsZero() {
			v.Set(name, at.Format(time.RFC3339Nano))
		}
	}
	return v
}
