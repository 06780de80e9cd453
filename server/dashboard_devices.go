package server

import (
	"context"
	"encoding/json"
	"time"

	"rendermac/api"
	"rendermac/store"
	"rendermac/web"
)

// maxMacs is how many stand on one page.
const maxMacs = 200

func (s *Server) showDevices(ctx context.Context, c call) (web.Page, error) {
	revoked := c.echo.QueryParam("revoked") != ""
	states := []string{"online", "offline", "draining"}
	if revoked {
		states = []string{"revoked"}
	}
	after := c.echo.QueryParam("after")
	list, err := s.o.DB.Devices(ctx, states, after, maxMacs+1)
	if err != nil {
		return nil, err
	}
	page := web.Devices{Revoked: revoked, Part: after != "" || len(list) > maxMacs}
	if len(list) > maxMacs {
		list = list[:maxMacs]
		page.After = list[maxMacs-1].ID
	}
	for _, d := range list {
		page.Macs = append(page.Macs, web.Mac{ID: d.ID, Name: d.Name, State: d.State, Busy: d.Busy, Services: d.Services})
	}
	if !c.isAdmin() {
		return page, nil
	}
	known, err := s.knownOfMacs(ctx, c, list)
	if err != nil {
		return nil, err
	}
	for i, d := range list {
		page.Macs[i].Own = known.details(d)
	}
	return page, nil
}

// macKnowledge is what is read of all Macs at once.
type macKnowledge struct {
	shares map[string]*float64
	lately map[string]store.Lately
	runs   map[string][]web.MacRun
	worked map[string]web.Day
}

func (s *Server) knownOfMacs(ctx context.Context, c call, list []store.Device) (macKnowledge, error) {
	k := macKnowledge{shares: map[string]*float64{}, runs: map[string][]web.MacRun{}, worked: map[string]web.Day{}}
	loads, err := s.deviceLoads(ctx, c)
	if err != nil {
		return k, err
	}
	for _, d := range loads {
		k.shares[d.ID] = d.BusyShare
	}
	if k.lately, err = s.o.DB.Lately(ctx); err != nil {
		return k, err
	}
	day, err := s.lastDay(ctx, c)
	if err != nil {
		return k, err
	}
	now := s.o.Now()
	var ids []string
	for _, d := range list {
		k.worked[d.ID] = dayOf(day.Worked[d.ID], now)
		ids = append(ids, d.Running...)
	}
	jobs, err := s.o.DB.JobsByID(ctx, ids)
	for _, j := range jobs {
		k.addRun(j, now)
	}
	return k, err
}

// addRun adds what a job's newest attempt does, unless it has ended meanwhile.
func (k macKnowledge) addRun(j store.Job, now time.Time) {
	if n := len(j.Attempts); n > 0 && j.Attempts[n-1].EndedAt == nil {
		a := j.Attempts[n-1]
		k.runs[a.DeviceID] = append(k.runs[a.DeviceID], runOnMac(j, a))
		k.worked[a.DeviceID] = append(k.worked[a.DeviceID], stretch(a.LeasedAt, now, now))
	}
}

func runOnMac(j store.Job, a store.Attempt) web.MacRun {
	r := web.MacRun{JobID: j.ID, Name: j.OutputName, Files: len(j.Inputs), Service: j.Service, Progress: attemptProgress(a)}
	if r.Files > 0 {
		r.File = j.Inputs[0].Name
	}
	return r
}

func orZero(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

func (k macKnowledge) details(d store.Device) *web.MacDetails {
	var m api.Machine
	_ = json.Unmarshal(d.Facts, &m) // what an agent said of itself: shown as far as it is understood
	lately := k.lately[d.ID]
	out := web.MacDetails{
		Model: m.Model, OSVersion: m.OSVersion, CPUs: m.CPUs, MemoryBytes: m.MemoryBytes, FreeDisk: m.FreeDiskBytes, Encoders: m.Encoders, Features: m.Features,
		AgentVersion: d.AgentVersion, Tags: d.Tags, Draining: d.Draining, Slots: d.Slots, AgentSlots: d.AgentSlots, Override: d.Override, PairedAt: d.PairedAt,
		BusyShare: k.shares[d.ID], Ended: lately.Ended, Succeeded: lately.Succeeded, Runs: k.runs[d.ID], Worked: k.worked[d.ID],
	}
	switch d.State {
	case "online", "draining":
		out.Since = d.OnlineSince
	case "offline":
		out.Since = d.LastSeenAt
	case "revoked":
		out.Since = d.RevokedAt
	}
	return &out
}
