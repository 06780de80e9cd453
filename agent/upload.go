package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/fetch"
)

// atOnce is how many parts of one result are on their way together.
const atOnce = 4

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
	u := &upload{r: r, file: file, through: make([]bool, len(r.result.Parts))}
	// The grants are pages, and a page goes stale while a slow line carries it.
	for from := 1; from > 0; {
		grant, err := r.grant(ctx, from)
		if err != nil {
			return err
		}
		failpoint.At("agent.upload")
		if from, err = u.page(ctx, from, grant); err != nil {
			return u.failure(ctx, err)
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
	r       *run
	file    *os.File
	moved   atomic.Int64
	unasked atomic.Bool // a proxy cannot be asked first: parts are sent at once

	mu      sync.Mutex
	through []bool // by part: the store holds it
	stale   []int  // numbers of this page's parts that need a fresh URL
	why     error

	barren int           // pages in a row that brought no part through
	since  time.Duration // when the first of them had ended
}

// page uploads the parts of one grant, several at once and each on its own, and
// returns where the next grant begins, 0 where there is none.
func (u *upload) page(ctx context.Context, from int, grant *agentproto.UploadGrant) (next int, err error) {
	if grant.NextPart != nil {
		next = *grant.NextPart
	}
	u.countHeld(from, next, grant.Parts)
	u.stale = nil
	group, putting := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, to := range grant.Parts {
		group.Go(func() error { return u.part(putting, to) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	if len(u.stale) == 0 {
		u.barren = 0
		return next, nil
	}
	return slices.Min(u.stale), u.again(ctx, len(u.stale) == len(grant.Parts))
}

// countHeld counts the parts of a page that are not in its grant: the store
// holds them from before.
func (u *upload) countHeld(from, next int, wanted []agentproto.PartURL) {
	missing := map[int]bool{}
	for _, to := range wanted {
		missing[to.Number] = true
	}
	for n := from; n <= len(u.through) && (next == 0 || n < next); n++ {
		if !missing[n] && !u.through[n-1] {
			u.through[n-1] = true
			u.moved.Add(u.r.result.Parts[n-1].Bytes)
		}
	}
	u.move(0)
}

// move counts bytes on their way.
func (u *upload) move(n int64) {
	u.r.report.done(float64(u.moved.Add(n)), float64(u.r.result.Bytes))
}

// again is before a grant is asked for anew because parts did not get through.
// The server knows more of its store than the agent, and is busy while it is
// away; but where it grants and nothing ever gets through, that is the end.
func (u *upload) again(ctx context.Context, barren bool) error {
	now := u.r.now()
	if !barren {
		u.barren = 0
	}
	if u.barren++; u.barren == 1 {
		u.since = now
	}
	if u.barren >= leastTries || u.barren > 1 && now-u.since > u.r.a.patience {
		return u.why
	}
	return u.r.now.sleep(ctx, fullJitter(u.r.a.backoff, u.barren))
}

// part puts one part until the store holds it, or until only a fresh grant can
// help.
func (u *upload) part(ctx context.Context, to agentproto.PartURL) error {
	parts := u.r.result.Parts
	if to.Number < 1 || to.Number > len(parts) {
		return fmt.Errorf("the server asks for part %d of %d", to.Number, len(parts))
	}
	p := piece{Part: parts[to.Number-1], to: to}
	p.content = io.NewSectionReader(u.file, int64(to.Number-1)*parts[0].Bytes, p.Bytes)
	var sent atomic.Int64 // by this try
	t := &transfer{a: u.r.a, moving: func(n int64) {
		sent.Add(n)
		u.move(n)
	}}
	err := t.persist(ctx, func(ctx context.Context) error {
		u.moved.Add(-sent.Swap(0))
		return u.put(ctx, t, p)
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case err == nil:
		u.through[to.Number-1] = true
		return nil
	case ctx.Err() != nil || errors.As(err, new(fetch.Hopeless)) && !errors.Is(err, errStale):
		return err
	}
	u.moved.Add(-sent.Swap(0))
	u.stale, u.why = append(u.stale, to.Number), err
	return nil
}

func (u *upload) failure(ctx context.Context, err error) error {
	var f *failure
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &f):
		return f
	}
	return failed(fence.UploadFailed, "the result could not be uploaded: %s", err)
}
