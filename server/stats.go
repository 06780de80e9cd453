package server

import (
	"context"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
)

// statsAge is for how long one look serves everyone who may see the same.
const statsAge = 5 * time.Second

func (s *Server) getStats(ctx context.Context, c call, _ *struct{}) (*body[api.Stats], error) {
	account := c.only()
	// The look is also for those who wait for it: it does not end with this request.
	stats, err := s.stats.of(account).get(s.o.Mono, statsAge, func() (store.Stats, error) {
		return s.o.DB.Stats(context.WithoutCancel(ctx), account)
	})
	if err != nil {
		return nil, err
	}
	return answerWith(c.showStats(stats)), nil
}

// deviceLoads are those of GET /v1/stats, without all that is counted of jobs.
func (s *Server) deviceLoads(ctx context.Context, c call) (loads []api.DeviceLoad, err error) {
	list, err := s.loads.get(s.o.Mono, statsAge, func() ([]store.DeviceLoad, error) {
		return s.o.DB.Loads(context.WithoutCancel(ctx))
	})
	for _, d := range list {
		loads = append(loads, c.showLoad(d))
	}
	return loads, err
}

func (c call) showStats(s store.Stats) api.Stats {
	out := api.Stats{
		At: s.At, Queue: showQueue(s.Queue), Devices: []api.DeviceLoad{}, Hours: []api.Hour{},
		Wait: showPercentiles(s.Wait), Run: showPercentiles(s.Run), Verify: showPercentiles(s.Verify),
	}
	for _, d := range s.Devices {
		out.Devices = append(out.Devices, c.showLoad(d))
	}
	for _, h := range s.Hours {
		out.Hours = append(out.Hours, api.Hour(h))
	}
	return out
}

func showQueue(list []store.QueueDepth) api.Queue {
	q := api.Queue{Services: []api.ServiceQueue{}}
	for _, d := range list {
		if n := len(q.Services); n == 0 || q.Services[n-1].Service != d.Service {
			q.Services = append(q.Services, api.ServiceQueue{Service: d.Service})
		}
		for _, depth := range []*api.Depth{&q.Depth, &q.Services[len(q.Services)-1].Depth} {
			switch d.Status {
			case fence.JobQueued:
				depth.Queued += d.Jobs
			case fence.JobActive:
				depth.Active += d.Jobs
			case fence.JobVerifying:
				depth.Verifying += d.Jobs
			case fence.JobCancelling:
				depth.Cancelling += d.Jobs
			}
		}
	}
	return q
}

func showPercentiles(p store.Percentiles) api.Percentiles {
	out := api.Percentiles{Jobs: p.Jobs}
	if p.Jobs > 0 {
		p50, p90, p99 := p.P50.Seconds(), p.P90.Seconds(), p.P99.Seconds()
		out.P50, out.P90, out.P99 = &p50, &p90, &p99
	}
	return out
}

// showLoad shows, below admin, what showDevice does.
func (c call) showLoad(d store.DeviceLoad) api.DeviceLoad {
	out := api.DeviceLoad{ID: d.ID, Name: d.Name, State: d.State, Busy: d.Busy}
	if !c.isAdmin() {
		return out
	}
	out.Slots = &d.Slots
	if d.Slots > 0 {
		share := min(1, d.Worked.Seconds()/(store.Day.Seconds()*float64(d.Slots)))
		out.BusyShare = &share
	}
	return out
}
