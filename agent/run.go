package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/media"
)

// Why a run stops.
var (
	errCancelled = errors.New("the job was cancelled")
	errOver      = errors.New("the run is over")
)

// failure is an end that the agent reports; its message is one plain sentence.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.message }

func failed(code, format string, args ...any) error {
	return &failure{code, fmt.Sprintf(format, args...)}
}

// run is one attempt on this machine.
type run struct {
	lease
	a      *agent
	log    *slog.Logger
	offer  *agentproto.LeaseOffer // nil for a result that an earlier agent left
	report *report

	// life ends when the run is no longer ours, or over; work, which is part of
	// it, also when the job is cancelled. What fails or is cancelled still has
	// its say with the server before life ends.
	life, work context.Context
	lose, stop context.CancelCauseFunc

	dir    string
	holds  []*hold // of its inputs in the cache, by their order; nil for one of its own
	result *result // once the output is finished
	keptMu sync.Mutex
	kept   bool // the result stands on disk with its identity

	slotMu  sync.Mutex
	release func()
}

func newRun(a *agent, ids agentproto.IDs, token string) *run {
	return &run{
		lease:  lease{now: a.now, changed: make(chan struct{}), ids: ids, token: token},
		a:      a,
		log:    a.log.With("job_id", ids.JobID, "attempt_id", ids.AttemptID),
		report: newReport(),
	}
}

// take begins the run of an offer. Where all slots are busy it waits for the
// next free one, alive: an offer is never refused. Until the first progress,
// which goes out at once, has been answered, the lease counts from now.
func (a *agent) take(m *agentproto.LeaseOffer, l *link) {
	if a.life.Err() != nil || a.find(m.AttemptID) != nil {
		return
	}
	r := newRun(a, m.IDs, m.CommitToken)
	r.offer, r.link, r.ttl = m, l, m.LeaseTTL.Duration()
	r.ends = a.now() + r.ttl
	r.log.Info("lease taken", "service", m.Service, "attempt_number", m.AttemptNumber)
	a.start(r)
}

// live is all of a run. When it returns nothing is left of it, neither process
// nor file, but for a result that is kept.
func (r *run) live() {
	failpoint.At("agent.leased")
	var helpers sync.WaitGroup
	helpers.Go(func() { r.watch(r.life, r.lose) })
	helpers.Go(func() { r.pulse(r.life) })
	err := r.story(r.work)
	if err != nil && r.work.Err() != nil {
		err = context.Cause(r.work) // the reason, not how it showed
	}
	r.conclude(err)
	r.freeSlot()
	r.lose(errOver)
	helpers.Wait()
}

func (r *run) story(ctx context.Context) error {
	if r.result == nil {
		if err := r.produce(ctx); err != nil {
			return err
		}
	}
	for {
		if err := r.upload(ctx); err != nil {
			return err
		}
		err := r.commit(ctx)
		if !errors.Is(err, errAgain) {
			return err
		}
	}
}

// produce makes the result: fetched, understood, encoded, checked, measured.
func (r *run) produce(ctx context.Context) error {
	if err := r.takeSlot(ctx); err != nil {
		return err
	}
	if err := r.makeFolder(); err != nil {
		return err
	}
	service, params, err := r.service()
	if err != nil {
		return err
	}
	failpoint.At("agent.download")
	paths, err := r.download(ctx)
	if err != nil {
		return err
	}
	r.report.enter("running")
	inputs, err := r.understand(ctx, service, paths)
	if err != nil {
		return err
	}
	out := filepath.Join(r.dir, "output."+service.Output(params).Ext)
	plan, err := service.Plan(params, inputs, r.a.env(out))
	if err != nil {
		return failed(fence.RunnerFailed, "%s", err)
	}
	failpoint.At("agent.run")
	plan, err = r.perform(ctx, plan, params)
	if err != nil {
		return err
	}
	failpoint.At("agent.run.after")
	if err := r.checkOutput(ctx, service, plan, out); err != nil {
		return err
	}
	r.letInputsGo()
	r.report.enter("uploading")
	failpoint.At("agent.measure")
	return r.measure(ctx, out, plan.Warnings)
}

// service is what the offer asks for, as this agent knows it.
func (r *run) service() (*media.Service, agentproto.RawJSON, error) {
	service, ok := media.Lookup(r.offer.Service)
	if !ok {
		return nil, nil, failed(fence.InternalError, "this agent does not know the service %q: update it", r.offer.Service)
	}
	params, faults := service.Accept(r.offer.Params)
	if len(faults) > 0 {
		return nil, nil, failed(fence.InternalError, "this agent cannot do %s: %s: update it", faults[0].Location, faults[0].Message)
	}
	return service, params, nil
}

// takeSlot waits for a slot and keeps the machine awake while it is held.
func (r *run) takeSlot(ctx context.Context) error {
	give, err := r.a.slots.take(ctx)
	if err != nil {
		return err
	}
	sleep := keepAwake()
	r.slotMu.Lock()
	defer r.slotMu.Unlock()
	r.release = sync.OnceFunc(func() { sleep(); give() })
	return nil
}

// freeSlot gives the slot back, if the run holds one.
func (r *run) freeSlot() {
	r.slotMu.Lock()
	defer r.slotMu.Unlock()
	if r.release != nil {
		r.release()
	}
}
