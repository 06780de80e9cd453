package server

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"
)

const (
	jobsOnPage = 50
	// maxLooks bounds how far one page looks for jobs that are rare. The list reads a
	// window of a thousand at a time; a search through so many takes less than a
	// tenth of a second (BenchmarkJobsPage).
	maxLooks = 12
)

// showJobs shows what GET /v1/jobs lists for the same key and filter.
func (s *Server) showJobs(ctx context.Context, c call) (web.Page, error) {
	in, page, err := s.jobsAsked(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(page.Faults()) > 0 {
		return page, invalid()
	}
	list, next, err := s.lookForJobs(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if next != "" {
		page.Older, page.Looked = sealCursor("listJobs", next), len(list) < jobsOnPage
	}
	ids := make([]string, len(list))
	for i, j := range list {
		ids[i] = j.ID
	}
	newest, err := s.o.DB.NewestAttempts(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, j := range list {
		row := rowOfJob(j, newest)
		if page.OfSeveral() {
			row.Account = page.Choices.AccountName(j.AccountID)
		}
		page.Rows = append(page.Rows, row)
	}
	return page, nil
}

// lookForJobs fills a page, as far as a few windows go.
func (s *Server) lookForJobs(ctx context.Context, c call, in jobList) (list []api.JobItem, next string, err error) {
	for range maxLooks {
		in.Limit = jobsOnPage - len(list)
		answer, err := s.listJobs(ctx, c, &in)
		if err != nil {
			return nil, "", err
		}
		list, next = append(list, answer.Body.Items...), orEmpty(answer.Body.NextCursor)
		if next == "" || len(list) == jobsOnPage {
			break
		}
		in.Cursor = next
	}
	return list, next, nil
}

func rowOfJob(j api.JobItem, newest map[string]store.Attempt) web.JobRow {
	row := web.JobRow{
		ID: j.ID, Name: orEmpty(j.OutputName), Status: j.Status, Service: j.Service, Preset: presetOf(j.Params), WaitingOn: orEmpty(j.WaitingOn),
		Reading: j.Reading > 0, Priority: j.Priority, Failure: cmp.Or(orEmpty(j.FailureMessage), orEmpty(j.FailureCode)), Created: j.CreatedAt,
		Labels: labelsOf(j.Labels),
	}
	if j.StartedAt != nil && j.FinishedAt != nil {
		row.Took = j.FinishedAt.Sub(*j.StartedAt)
	}
	if a, had := newest[j.ID]; had {
		row.Device, row.Attempt = a.DeviceName, a.Number
		row.Failure = cmp.Or(row.Failure, orEmpty(a.FailureMessage), orEmpty(a.FailureCode))
		if a.EndedAt == nil {
			progress := attemptProgress(a)
			row.Progress = &progress
		}
	}
	return row
}

// attemptProgress is how far a live attempt is.
func attemptProgress(a store.Attempt) web.Progress {
	p := web.Progress{AttemptID: a.ID, Phase: string(a.Status), Unknown: true}
	switch {
	case a.Status == fence.AttemptCommitting:
		p.Phase = "verifying"
	case orEmpty(a.Phase) == p.Phase: // else what was reported is of the phase before
		p.Fraction, p.Unknown = orZero(a.Fraction), a.Fraction == nil
		p.FPS, p.Speed, p.LeftS = orZero(a.FPS), orZero(a.Speed), orZero(a.ETA)
	}
	return p
}

func presetOf(params json.RawMessage) string {
	var p struct{ Preset string }
	_ = json.Unmarshal(params, &p) // a service may have none
	return p.Preset
}

func labelsOf(labels map[string]string) (list []web.Label) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, web.Label{Key: key, Value: labels[key]})
	}
	return list
}
