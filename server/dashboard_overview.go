package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rendermac/api"
	"rendermac/store"
	"rendermac/web"
)

// How many rows the overview has of what waits and of what has ended.
const (
	maxNext   = 8
	maxLately = 12
)

// showOverview shows everything to an admin, and to others what is their
// account's; of the Macs, those are shown what GET /v1/devices shows them.
func (s *Server) showOverview(ctx context.Context, c call) (web.Page, error) {
	o, err := s.o.DB.Overview(ctx, c.only())
	if err != nil {
		return nil, err
	}
	day, err := s.lastDay(ctx, c)
	if err != nil {
		return nil, err
	}
	loads, err := s.deviceLoads(ctx, c)
	if err != nil {
		return nil, err
	}
	f := newForecast(o, day.Typical)
	view := web.Overview{
		Mine: !c.isAdmin(), Macs: c.macLanes(o, day, loads), Now: c.nowRows(o),
		Queued: o.Queued, Many: o.QueuedMore, Lately: endedRows(o), Failed: o.FailedMore,
	}
	if c.isAdmin() {
		view.Room = &web.Room{Share: share(loads)}
		view.Room.Free, view.Room.Next = f.room()
	}
	view.Next = c.nextRows(o, f)
	for _, h := range day.Hours {
		view.Hours = append(view.Hours, web.HourCount{From: h.From, Succeeded: h.Succeeded, Failed: h.Failed})
	}
	return view, nil
}

func jobRef(j store.JobLine) web.JobRef {
	return web.JobRef{ID: j.ID, Name: j.Name, File: j.File, Files: j.Files, Service: j.Service, Preset: j.Preset}
}

// nowRows stand by Mac: a row stays where it is until it ends.
func (c call) nowRows(o store.Overview) (rows []web.NowRow) {
	names := map[string]string{}
	for _, m := range o.Machines {
		names[m.ID] = m.Name
	}
	for _, r := range o.Runs {
		if c.sees(r.AccountID) {
			rows = append(rows, web.NowRow{JobRef: jobRef(r.JobLine), Mac: names[r.DeviceID], Progress: runProgress(r), Cancelling: r.Cancelling})
		}
	}
	slices.SortStableFunc(rows, func(a, b web.NowRow) int {
		return strings.Compare(a.Mac+"\x00"+a.AttemptID, b.Mac+"\x00"+b.AttemptID)
	})
	return rows
}

func runProgress(r store.LiveRun) web.Progress {
	return attemptProgress(store.Attempt{ID: r.AttemptID, Status: r.Status, Phase: &r.Phase, Fraction: r.Fraction, FPS: r.FPS, Speed: r.Speed, ETA: r.ETA})
}

// nextRows go through everybody's queue: a job starts after all that are before it.
func (c call) nextRows(o store.Overview, f *forecast) (rows []web.NextRow) {
	for _, p := range o.Queue {
		start := f.start(p)
		if !c.sees(p.AccountID) {
			continue
		}
		row := web.NextRow{JobRef: jobRef(p.JobLine), Start: start, NoMac: len(f.takers) == 0}
		if start == nil {
			row.Lacks = f.lacks(p.Needs)
		}
		rows = append(rows, row)
	}
	for _, h := range o.Held {
		row := web.NextRow{JobRef: jobRef(h.JobLine), Reading: h.WaitingOn == nil}
		if h.WaitingOn != nil {
			on := jobRef(*h.WaitingOn)
			row.WaitingOn = &on
		}
		rows = append(rows, row)
	}
	return rows[:min(len(rows), maxNext)]
}

// endedRows put the failed first, and fill up with the newest of the others.
func endedRows(o store.Overview) (rows []web.EndedRow) {
	for _, e := range append(slices.Clone(o.Failed), o.Ended...) {
		row := web.EndedRow{JobRef: jobRef(e.JobLine), Status: string(e.Status), At: e.EndedAt, Message: cmp.Or(e.FailureMessage, e.FailureCode)}
		if e.StartedAt != nil {
			row.Took = e.EndedAt.Sub(*e.StartedAt)
		}
		rows = append(rows, row)
	}
	return rows[:min(len(rows), maxLately)]
}

// macLanes tell when each Mac worked: below admin, for its own account.
func (c call) macLanes(o store.Overview, day store.LastDay, loads []api.DeviceLoad) (lanes []web.MacLane) {
	shares := map[string]*float64{}
	for _, l := range loads {
		shares[l.ID] = l.BusyShare
	}
	for _, m := range o.Machines {
		lane := web.MacLane{ID: m.ID, Name: m.Name, State: m.State, Share: shares[m.ID]}
		if c.isAdmin() {
			lane.Slots, lane.Seen = &m.Slots, m.LastSeenAt
		}
		lane.Worked = dayOf(day.Worked[m.ID], o.At)
		for _, r := range o.Runs {
			if r.DeviceID == m.ID {
				lane.Busy++
				if c.sees(r.AccountID) {
					lane.Worked = append(lane.Worked, stretch(r.LeasedAt, o.At, o.At))
				}
			}
		}
		lanes = append(lanes, lane)
	}
	return lanes
}

// share is how busy all slots were: those of a larger Mac count for more.
func share(loads []api.DeviceLoad) *float64 {
	worked, slots := 0.0, 0
	for _, l := range loads {
		if l.BusyShare != nil {
			worked, slots = worked+*l.BusyShare*float64(*l.Slots), slots+*l.Slots
		}
	}
	if slots == 0 {
		return nil
	}
	worked /= float64(slots)
	return &worked
}
