package server

import (
	"context"
	"errors"
	"time"

	"rendermac/api"
	"rendermac/artifact"
	"rendermac/store"
)

// retentionEvery is how often the loop looks. It waits by a timer and judges by
// the wall clock: a machine that slept looks a little later.
const retentionEvery = time.Hour

// Retention is how long things are kept, and how much of them. Zero is for ever,
// and no limit.
type Retention struct {
	Outputs, Uploads, Events, Logs, Deliveries time.Duration
	OutputsMaxBytes, UploadsMaxBytes           int64
}

// retention removes what is older than it is to be kept, and the oldest of what
// is more than that; never what a live job needs. It works in pages: each reads a
// little, writes a little, and lets others in between.
type retention struct {
	*Server
	turn chan struct{} // one at a time
}

func newRetention(s *Server) *retention { return &retention{s, make(chan struct{}, 1)} }

func (r *retention) loop(ctx context.Context) {
	for {
		r.runOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retentionEvery):
		}
	}
}

// runOnce also takes up what an earlier run has left undone.
func (r *retention) runOnce(ctx context.Context) {
	settled, err := r.o.DB.ClockSettled(ctx)
	switch {
	case err != nil:
	case !settled:
		r.o.Log.Warn("the clock is more than two days ahead of what was last noted: nothing is removed by age until it has gone on for a day; `rendermac gc` goes by it now")
		err = r.finish(ctx)
	default:
		_, err = r.collect(ctx)
	}
	if err != nil && ctx.Err() == nil && !r.outage.met(err) {
		r.o.Log.Warn("could not remove all that is too old: it is tried again within the hour", "err", err)
	}
}

// collect removes what is to go and says what that was.
func (r *retention) collect(ctx context.Context) (report api.GC, err error) {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return report, ctx.Err()
	}
	// A full store can still be emptied; into one that is away nothing is written
	// off, so that what is promised to be free is free.
	if err := r.o.Artifacts.Check(ctx); err != nil && !errors.Is(err, artifact.ErrFull) {
		return report, err
	}
	unfinished := r.finish(ctx)
	report, err = r.report(ctx, false)
	if report != (api.GC{}) {
		r.stored.forget()
		r.o.Log.Info("retention has removed what was to go", "outputs", report.Outputs.Count, "output_bytes", report.Outputs.Bytes,
			"uploads", report.Uploads.Count, "upload_bytes", report.Uploads.Bytes, "open_uploads", report.OpenUploads.Count,
			"logs", report.Logs, "events", report.Events, "deliveries", report.Deliveries)
	}
	return report, errors.Join(unfinished, err)
}

// finish removes the objects that are nobody's any more, and ends the writes that
// nobody wants.
func (r *retention) finish(ctx context.Context) error {
	r.discardAll(ctx)
	return r.abortLeftovers(ctx)
}

// report goes through everything; what it finds is removed unless it is a dry run.
func (r *retention) report(ctx context.Context, dry bool) (report api.GC, err error) {
	keep, now := r.o.Retention, r.o.Now()
	report.DryRun = dry
	for _, of := range []struct {
		name  string
		files store.FileKind
		keep  time.Duration
		limit int64
		freed *api.Freed
	}{
		{"outputs", store.Outputs, keep.Outputs, keep.OutputsMaxBytes, &report.Outputs},
		{"uploads", store.Uploads, keep.Uploads, keep.UploadsMaxBytes, &report.Uploads},
		{"open_uploads", store.OpenUploads, keep.Uploads, 0, &report.OpenUploads},
	} {
		w := &fileWalk{Server: r.Server, kind: of.files, name: of.name, dry: dry, freed: of.freed}
		if err := w.run(ctx, now, of.keep, of.limit); err != nil {
			return report, err
		}
	}
	for _, of := range []struct {
		name    string
		rows    store.RowKind
		keep    time.Duration
		removed *int64
	}{
		{"logs", store.Logs, keep.Logs, &report.Logs},
		{"events", store.Events, keep.Events, &report.Events},
		{"deliveries", store.Deliveries, keep.Deliveries, &report.Deliveries},
	} {
		if of.keep == 0 {
			continue
		}
		if err := r.rows(ctx, of.rows, of.name, now.Add(-of.keep), dry, of.removed); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (r *retention) rows(ctx context.Context, kind store.RowKind, name string, before time.Time, dry bool, removed *int64) error {
	for page := (store.OldRows{}); page.More() && ctx.Err() == nil; {
		var err error
		if page, err = r.o.DB.NextOldRows(ctx, kind, before, page); err != nil {
			return err
		}
		n := int64(len(page.Keys))
		if !dry {
			if n, err = r.o.DB.RemoveRows(ctx, kind, page); err != nil {
				return err
			}
			r.metrics.freed(name, n, 0)
		}
		*removed += n
	}
	return ctx.Err()
}
