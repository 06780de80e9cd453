package agent

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"rendermac/roots"
)

// proveTime is how long a shared root may take to open.
const proveTime = 5 * time.Second

// prover finds out which shared roots can be used here. A look that hangs in the
// kernel, as at a network volume that has gone, is not followed by another.
type prover struct {
	folders map[string]string // by root
	mu      sync.Mutex
	asking  map[string]chan struct{} // closed when the look has come back
	usable  map[string]bool
}

func newProver(folders map[string]string) *prover {
	return &prover{folders: folders, asking: map[string]chan struct{}{}, usable: map[string]bool{}}
}

// features are those that jobs call root:NAME in their needs, of the roots that
// can be used now.
func (p *prover) features(ctx context.Context) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, proveTime)
	defer cancel()
	looks := map[string]chan struct{}{}
	for name, folder := range p.folders {
		looks[name] = p.look(name, folder)
	}
	for _, look := range looks {
		select {
		case <-look:
		case <-ctx.Done():
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(p.folders)) {
		if p.usable[name] && p.asking[name] == nil {
			all = append(all, "root:"+name)
		}
	}
	return all
}

// look begins one, unless the last one has not come back.
func (p *prover) look(name, folder string) chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if asking := p.asking[name]; asking != nil {
		return asking
	}
	back := make(chan struct{})
	p.asking[name] = back
	go func() {
		err := roots.Check(folder)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.usable[name] = err == nil
		delete(p.asking, name)
		close(back)
	}()
	return back
}

// errRoots ends a session whose hello is not true any more.
var errRoots = errors.New("other shared roots can be used now: saying hello anew")

// watchRoots ends the session once the roots that it announced are others, so
// that no job is offered in vain, and jobs that wait for a volume get it. Where a
// reconnect would cost the runs here, it waits for their end.
func (a *agent) watchRoots(ctx context.Context, announced []string, stop context.CancelCauseFunc) {
	if len(a.SharedRoots) == 0 {
		return
	}
	for a.now.sleep(ctx, a.rootsEvery) == nil {
		if slices.Equal(a.prover.features(ctx), announced) || ctx.Err() != nil {
			continue
		}
		a.mu.Lock()
		free := a.terms.Resume || len(a.runs) == 0
		a.mu.Unlock()
		if free {
			stop(errRoots)
			return
		}
	}
}
