package server

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"
)

// tellStory reads the job's history: when each attempt came into which phase.
func (s *Server) tellStory(ctx context.Context, _ call, j store.Job, page *web.Job) error {
	events, _, err := s.o.DB.EventsAfter(ctx, store.EventFilter{JobID: j.ID}, 0, maxJobEvents+1)
	if err != nil {
		return err
	}
	if page.MoreEvents = len(events) > maxJobEvents; page.MoreEvents {
		events = events[:maxJobEvents]
	}
	names := map[string]string{}
	for _, a := range j.Attempts {
		names[a.ID] = a.DeviceName
	}
	for _, e := range events {
		page.Events = append(page.Events, web.Event{ID: e.ID, At: e.At, Type: e.Type, Device: names[orEmpty(e.AttemptID)], Facts: factsOf(e.Data)})
	}
	for _, a := range j.Attempts {
		page.Attempts = append(page.Attempts, attemptStory(a, events, page.Now))
	}
	return nil
}

// attemptStory goes through what has happened to one attempt. Where retention has
// removed that, its beginning and its end are known all the same.
func attemptStory(a store.Attempt, events []store.Event, now time.Time) web.Attempt {
	out := web.Attempt{
		ID: a.ID, Status: string(a.Status), Number: a.Number, DeviceID: a.DeviceID, Device: a.DeviceName, Leased: a.LeasedAt, Ended: a.EndedAt,
		Failure: cmp.Or(orEmpty(a.FailureMessage), orEmpty(a.FailureCode)),
	}
	end := now
	if a.EndedAt != nil {
		end = *a.EndedAt
	} else {
		progress := attemptProgress(a)
		out.Progress, out.Status = &progress, progress.Phase
	}
	for _, e := range events {
		if orEmpty(e.AttemptID) == a.ID {
			tell(&out, e)
		}
	}
	if len(out.Phases) == 0 || out.Phases[0].Name != string(fence.AttemptLeased) {
		out.Phases = append([]web.Phase{{Name: "ran", From: a.LeasedAt}}, out.Phases...)
	}
	for i := range out.Phases {
		if out.Phases[i].To = end; i+1 < len(out.Phases) {
			out.Phases[i].To = out.Phases[i+1].From
		}
	}
	return out
}

func tell(a *web.Attempt, e store.Event) {
	begin := func(phase string) { a.Phases = append(a.Phases, web.Phase{Name: phase, From: e.At}) }
	mark := func(kind string) { a.Marks = append(a.Marks, web.Mark{Kind: kind, At: e.At}) }
	switch e.Type {
	case "attempt.leased":
		begin("leased")
		mark("leased")
	case "attempt.downloading", "attempt.running", "attempt.uploading":
		begin(strings.TrimPrefix(e.Type, "attempt."))
	case "attempt.resumed":
		mark("resumed")
		var data struct {
			Epoch int64 `json:"lease_epoch"`
		}
		_ = json.Unmarshal(e.Data, &data) // our own row
		a.Marks[len(a.Marks)-1].Epoch = data.Epoch
	case "job.verifying":
		begin("verifying")
		mark("committed")
	case "job.cancelling":
		mark("cancelled")
	}
}
