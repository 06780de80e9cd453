package server

import (
	"context"
	"errors"
	"time"

	"rendermac/api"
	"rendermac/failpoint"
	"rendermac/store"
)

// fileWalk goes through the files of a kind, the oldest first.
type fileWalk struct {
	*Server
	kind  store.FileKind
	name  string
	dry   bool
	freed *api.Freed
}

// endOfTime is after every file, and no job has ended then.
var endOfTime = time.UnixMilli(1 << 52)

// run removes by age first, then by size what is still too much. Age counts from
// the end of the last job that had the file, size from the file's own beginning.
func (w *fileWalk) run(ctx context.Context, now time.Time, keep time.Duration, limit int64) error {
	old := now.Add(-keep)
	if keep > 0 {
		err := w.pages(ctx, old, func(f *store.OldFile) (bool, error) { return w.free(ctx, f, old) })
		if err != nil {
			return err
		}
	}
	if limit == 0 {
		return nil
	}
	over, err := w.o.DB.StoredBytes(ctx, w.kind)
	if err != nil {
		return err
	}
	if over -= limit; w.dry {
		over -= w.freed.Bytes
	}
	return w.pages(ctx, endOfTime, func(f *store.OldFile) (bool, error) {
		if over <= 0 {
			return false, errEnough
		}
		if w.dry && keep > 0 && f.At.Before(old) { // it is still there, and counted already?
			if counted, err := w.free(ctx, f, old); counted || err != nil {
				return false, err
			}
		}
		goes, err := w.free(ctx, f, endOfTime)
		if goes {
			over -= f.Bytes
		}
		return goes, err
	})
}

func (w *fileWalk) free(ctx context.Context, f *store.OldFile, since time.Time) (bool, error) {
	needed, err := w.o.DB.Needed(ctx, w.kind, f, since)
	return !needed && err == nil, err
}

var errEnough = errors.New("no more has to go")

// pages removes page by page what is picked.
func (w *fileWalk) pages(ctx context.Context, before time.Time, pick func(*store.OldFile) (bool, error)) error {
	var last store.OldFile
	for more := true; more && ctx.Err() == nil; {
		var page, picked []store.OldFile
		var err error
		if page, more, err = w.o.DB.OldFiles(ctx, w.kind, before, last); err != nil {
			return err
		}
		for _, f := range page {
			var goes bool
			if goes, err = pick(&f); err != nil {
				break
			}
			if goes {
				picked = append(picked, f)
			}
			last = f
		}
		more = more && err == nil
		if err := errors.Join(w.remove(ctx, picked), err); err != nil && !errors.Is(err, errEnough) {
			return err
		}
	}
	return ctx.Err()
}

func (w *fileWalk) remove(ctx context.Context, files []store.OldFile) error {
	if w.dry {
		for _, f := range files {
			w.freed.Count, w.freed.Bytes = w.freed.Count+1, w.freed.Bytes+f.Bytes
		}
		return nil
	}
	if len(files) == 0 {
		return nil
	}
	gone, err := w.o.DB.RemoveFiles(ctx, w.kind, files)
	if err != nil {
		return err
	}
	failpoint.At("server.gc.noted")
	var keys []string
	var bytes int64
	for _, g := range gone {
		keys, bytes = append(keys, g.Key), bytes+g.Bytes
	}
	w.freed.Count, w.freed.Bytes = w.freed.Count+int64(len(gone)), w.freed.Bytes+bytes
	w.metrics.freed(w.name, int64(len(gone)), bytes)
	return w.erase(ctx, keys...)
}
