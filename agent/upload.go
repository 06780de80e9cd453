package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
)

// atOnce is how many parts of one result are on their way together.
const atOnce = 4

// errExpired is a part's URL that has run out.
var errExpired = errors.New("the part's URL is not valid any more")

// upload brings every part that the server does not hold yet. A result that is
// committed already needs none.
func (r *run) upload(ctx context.Context) error {
	if err := r.awaitWord(ctx); err != nil || r.isAccepted() {
		return err
	}
	r.flush()
	file, err := os.Open(filepath.Join(r.dir, r.result.File))
	if err != nil {
		return fmt.Errorf("open the output: %w", err)
	}
	defer file.Close()
	u := &upload{r: r, file: file}
	// The grants are pages, and a page goes stale while a slow line carries it.
	for from, barren := 1, 0; from > 0; {
		grant, err := r.grant(ctx, from)
		if err != nil {
			return err
		}
		failpoint.At("agent.upload")
		before := u.held.Load()
		if from, err = u.page(ctx, grant); err != nil {
			return u.failure(ctx, err)
		}
		if barren++; u.held.Load() > before || from == 0 {
			barren = 0
		}
		if barren >= leastTries {
			return failed(fence.UploadFailed, "the result could not be uploaded: %s", errExpired)
		}
	}
	return nil
}

func (r *run) grant(ctx context.Context, from int) (*agentproto.UploadGrant, error) {
	answer, err := r.insist(ctx, func(ids agentproto.IDs, _ string) agentproto.Message {
		m := &agentproto.Upload{IDs: ids, Bytes: r.result.Bytes, SHA256: r.result.SHA256, Parts: r.result.Parts}
		if from > 1 {
			m.FromPart = from
		}
		return m
	})
	if err != nil {
		return nil, err
	}
	grant, ok := answer.(*agentproto.UploadGrant)
	if !ok {
		return nil, failed(fence.UploadFailed, "%s", refused("the upload", answer))
	}
	return grant, nil
}

// upload is a result on its way.
type upload struct {
	r     *run
	file  *os.File
	held  atomic.Int64 // parts that went through here
	moved atomic.Int64
}

// page uploads the parts of one grant, several at once and each on its own, and
// returns where the next grant begins, 0 where there is none.
func (u *upload) page(ctx context.Context, grant *agentproto.UploadGrant) (next int, err error) {
	if grant.NextPart != nil {
		next = *grant.NextPart
	}
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, to := range grant.Parts {
		group.Go(func() error {
			err := u.part(ctx, to)
			if errors.Is(err, errExpired) {
				mu.Lock()
				defer mu.Unlock()
				if next == 0 || to.Number < next {
					next = to.Number
				}
				return nil
			}
			u.held.Add(1)
			return err
		})
	}
	err = group.Wait()
	return next, err
}

// part puts one part until the store holds it.
func (u *upload) part(ctx context.Context, to agentproto.PartURL) error {
	parts := u.r.result.Parts
	if to.Number < 1 || to.Number > len(parts) {
		return hopeless{fmt.Errorf("the server asks for part %d of %d", to.Number, len(parts))}
	}
	p, offset := parts[to.Number-1], int64(0)
	for _, before := range parts[:to.Number-1] {
		offset += before.Bytes
	}
	var sent atomic.Int64 // by this try
	t := &transfer{a: u.r.a, moving: func(n int64) {
		sent.Add(n)
		u.r.report.done(float64(u.moved.Add(n)), float64(u.r.result.Bytes))
	}}
	return t.persist(ctx, func(ctx context.Context) error {
		u.moved.Add(-sent.Swap(0))
		return u.put(ctx, t, to, io.NewSectionReader(u.file, offset, p.Bytes), p.Bytes)
	})
}

func (u *upload) put(ctx context.Context, t *transfer, to agentproto.PartURL, part io.Reader, size int64) error {
	body := t.body(part)
	if size == 0 {
		body = http.NoBody
	}
	failpoint.At("agent.part.before")
	answer, err := u.r.a.do(ctx, http.MethodPut, to.URL, body, size, to.Headers)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	failpoint.At("agent.part.after")
	if answer.StatusCode/100 == 2 {
		return nil
	}
	switch p := problemOf(answer); {
	case p.Code == "part_held": // another try got through: the bytes are bound (F16)
		return nil
	case p.Status == http.StatusForbidden:
		return hopeless{errExpired}
	default:
		return p
	}
}

func (u *upload) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return failed(fence.UploadFailed, "the result could not be uploaded: %s", err)
}
