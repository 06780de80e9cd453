package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"
)

// sendParts sends the parts that are not held, several at once. Each is hashed
// right before it is sent: that reads it into memory, and its URL is bound to it
// (F16).
func (u *upload) sendParts(ctx context.Context) error {
	var missing []int
	for n := 1; n == 1 || u.offset(n) < u.info.Size(); n++ {
		if !slices.Contains(u.held, n) {
			missing = append(missing, n)
		}
	}
	workers, within := errgroup.WithContext(ctx)
	workers.SetLimit(partsAtOnce)
	for batch := range slices.Chunk(missing, u.batch(len(missing))) {
		workers.Go(func() error { return u.sendBatch(within, batch) })
	}
	return workers.Wait()
}

// batch is how many of the missing parts a request asks for: many where they are
// small, but so few that all workers have some.
func (u *upload) batch(missing int) int {
	share := (missing + partsAtOnce - 1) / partsAtOnce
	return max(1, min(share, partsPerBatch, int(bytesPerBatch/u.partBytes)))
}

func (u *upload) sendBatch(ctx context.Context, numbers []int) error {
	parts := make([]Part, len(numbers))
	for i, n := range numbers {
		digest, err := u.digest(ctx, u.offset(n), u.partLength(n))
		if err != nil {
			return err
		}
		parts[i] = Part{Number: n, Bytes: u.partLength(n), SHA256: digest}
	}
	urls, err := insist(ctx, u, func() (*urls, error) { return u.sign(ctx, parts) })
	if err != nil {
		return err
	}
	for _, p := range parts {
		if to, missing := (*urls)[p.Number]; !missing {
			u.has(p.Number)
		} else if err := u.put(ctx, p, to); err != nil {
			return err
		}
	}
	return nil
}

// urls are those of parts that are not held, by number.
type urls map[int]PartURL

// sign asks for URLs of these parts: each of them is held or gets one.
func (u *upload) sign(ctx context.Context, parts []Part) (*urls, error) {
	signed, err := call[UploadPartURLs](ctx, u.Client, http.MethodPost, "/v1/uploads/"+u.id+"/parts", UploadParts{parts})
	if err != nil {
		return nil, err
	}
	of := urls{}
	for _, p := range signed.Parts {
		of[p.Number] = p
	}
	for _, p := range parts {
		if _, missing := of[p.Number]; !missing && !slices.Contains(signed.Held, p.Number) {
			return nil, fmt.Errorf("the server says nothing of part %d, which it was asked for", p.Number)
		}
	}
	return &of, nil
}

// has notes that a part is held which was not sent.
func (u *upload) has(part int) {
	u.progress(u.partLength(part))
	u.gain()
}
