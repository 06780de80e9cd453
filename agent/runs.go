package agent

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// restore clears what an earlier agent left in the work folder, but for finished
// results that still wait for the server's answer: those are runs again.
func (a *agent) restore() error {
	left, err := os.ReadDir(a.WorkDir)
	if err != nil {
		return fmt.Errorf("look into the work folder: %w", err)
	}
	for _, entry := range left {
		if !strings.HasPrefix(entry.Name(), folderPrefix) {
			continue // not ours: the user may keep other things here
		}
		dir := filepath.Join(a.WorkDir, entry.Name())
		kept, err := readKept(dir)
		if err != nil {
			a.log.Info("cleared a leftover work folder", "dir", dir, "why", err)
			dropShort(dir)
			if err := os.RemoveAll(dir); err != nil {
				return fmt.Errorf("clear a leftover work folder: %w", err)
			}
			continue
		}
		a.log.Info("kept result found", "job_id", kept.JobID, "attempt_id", kept.AttemptID)
		a.start(restoredRun(a, dir, kept))
	}
	return nil
}

// start lets the run live in a goroutine of its own. One that ends kept is still
// held: the goodbye names it.
func (a *agent) start(r *run) {
	r.life, r.lose = context.WithCancelCause(a.life)
	r.work, r.stop = context.WithCancelCause(r.life)
	id := r.ids.AttemptID
	a.mu.Lock()
	a.runs[id] = r
	a.mu.Unlock()
	a.working.Go(func() {
		r.live()
		if !r.isKept() {
			a.mu.Lock()
			delete(a.runs, id)
			a.mu.Unlock()
		}
	})
}

// held are all runs that are not over.
func (a *agent) held() []*run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Values(a.runs))
}

// ours are the runs to list in resume. One that is stopping because it was lost
// must not be taken up again.
func (a *agent) ours() []*run {
	return slices.DeleteFunc(a.held(), func(r *run) bool { return r.life.Err() != nil })
}

// find is the run of an attempt, nil where it is over or never was.
func (a *agent) find(attemptID string) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[attemptID]
}
