package server

import (
	"context"
	"fmt"

	"rendermac/api"
	"rendermac/store"

	"github.com/danielgtaylor/huma/v2"
)

const (
	maxBatch     = 500 // as api.BatchRequest says
	maxBatchBody = 8 << 20
)

// batchBody lets a body be as large as a batch needs.
func batchBody(_ *mount, op *huma.Operation) { op.MaxBodyBytes = maxBatchBody }

// batchInput is many jobs as they are submitted, and what was made of them.
type batchInput struct {
	Body api.BatchRequest
	jobs []store.NewJob
}

// Resolve implements huma.Resolver, as that of jobInput does. It ends where more
// faults are known than an answer lists.
func (in *batchInput) Resolve(ctx huma.Context) (faults []error) {
	c := callOf(ctx.Context())
	if c.made.Replayed || len(in.Body.Jobs) > maxBatch { // the schema has said so
		return nil
	}
	for i, r := range in.Body.Jobs {
		check := jobCheck{Server: c.server, r: r, at: fmt.Sprintf("jobs[%d].", i)}
		if err := check.run(ctx.Context(), c.key.AccountID); err != nil {
			return []error{c.server.refusalOf(err)}
		}
		in.jobs = append(in.jobs, check.job)
		if faults = append(faults, check.faults...); len(faults) > maxFaults {
			break
		}
	}
	return faults
}

func (s *Server) createBatch(ctx context.Context, c call, in *batchInput) (*made[api.Batch], error) {
	m, err := s.submit(ctx, c, in.jobs...)
	if err != nil {
		return nil, err
	}
	jobs, err := s.o.DB.JobsByID(ctx, m.IDs)
	if err != nil {
		return nil, err
	}
	out := api.Batch{Items: []api.Job{}}
	for _, j := range jobs {
		out.Items = append(out.Items, showJob(j))
	}
	return madeOf(m, out), nil
}
