package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"
)

// maxJobEvents is how many stand on the page; a job has seldom more than twenty.
const maxJobEvents = 500

// showJob shows what GET /v1/jobs/{id} and its neighbours tell the same key.
func (s *Server) showJob(ctx context.Context, c call) (web.Page, error) {
	j, err := s.visibleJob(ctx, c, c.echo.Param("id"))
	if err != nil {
		return nil, err
	}
	page := web.Job{
		ID: j.ID, Name: j.OutputName, Status: string(j.Status), Service: j.Service, Preset: presetOf(j.Params),
		Failure: cmp.Or(orEmpty(j.FailureMessage), orEmpty(j.FailureCode)), FailureCode: orEmpty(j.FailureCode), Reading: j.Reading,
		Priority: j.Priority, MaxAttempts: j.MaxAttempts, Deadline: j.Deadline, Created: j.CreatedAt, Started: j.StartedAt, Finished: j.FinishedAt,
		Now: s.o.Now(), LogsKept: s.o.Retention.Logs, Params: factsOf(j.Params), Labels: labelsOf(j.Labels), Requires: requirements(j.Requires),
	}
	page.Inputs, page.Output = filesOf(j)
	for _, of := range []func(context.Context, call, store.Job, *web.Job) error{
		s.tellStory, s.tellWait, s.tellDependents, s.nameOthers, s.showOutputsOf, s.tellWebhook, s.tellHold,
	} {
		if err := of(ctx, c, j, &page); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// tellWait says when a queued job starts, or what keeps it, where it is near enough
// to the queue's head that the overview says so.
func (s *Server) tellWait(ctx context.Context, c call, j store.Job, page *web.Job) error {
	if j.Status != fence.JobQueued || j.WaitingOn != nil || j.Reading > 0 {
		return nil
	}
	o, err := s.o.DB.Overview(ctx, c.only())
	if err != nil {
		return err
	}
	day, err := s.lastDay(ctx, c)
	if err != nil {
		return err
	}
	rows := c.nextRows(o, newForecast(o, day.Typical))
	if at := slices.IndexFunc(rows, func(r web.NextRow) bool { return r.ID == j.ID }); at >= 0 {
		page.Next = &rows[at]
	}
	return nil
}

// tellDependents says how many jobs would fail with this one.
func (s *Server) tellDependents(ctx context.Context, _ call, j store.Job, page *web.Job) (err error) {
	if page.MayCancel() {
		page.Dependents, page.MoreDependents, err = s.o.DB.CountDependents(ctx, j.ID)
	}
	return err
}

// nameOthers says what the account and the jobs are called that this one names.
func (s *Server) nameOthers(ctx context.Context, c call, j store.Job, page *web.Job) (err error) {
	if c.isAdmin() {
		page.Account = &web.Choice{Value: j.AccountID}
		if page.Account.Name, err = s.o.DB.AccountName(ctx, j.AccountID); err != nil {
			return err
		}
	}
	retry, err := s.o.DB.NewestRetry(ctx, j.ID)
	if err != nil {
		return err
	}
	for _, other := range []struct {
		id   *string
		link **web.JobLink
	}{{j.WaitingOn, &page.WaitingOn}, {j.RetryOf, &page.RetryOf}, {retry, &page.Retry}} {
		if other.id == nil {
			continue
		}
		*other.link = &web.JobLink{ID: *other.id, Name: web.Short(*other.id)}
		named, err := s.visibleJob(ctx, c, *other.id)
		switch {
		case err == nil:
			(*other.link).Name = named.OutputName
		case s.refusalOf(err).Code != api.CodeNotFound:
			return err
		}
	}
	return nil
}

// tellWebhook says who wants to be told; an admin is told what came of it.
func (s *Server) tellWebhook(ctx context.Context, c call, j store.Job, page *web.Job) error {
	if j.WebhookURL == nil {
		return nil
	}
	page.Webhook = &web.Webhook{URL: *j.WebhookURL, Events: j.WebhookEvents}
	if !c.isAdmin() {
		return nil
	}
	list, err := s.o.DB.Deliveries(ctx, store.DeliveryFilter{JobID: j.ID, Limit: 20})
	var shown []api.Delivery
	for _, d := range list {
		shown = append(shown, showDelivery(d))
		page.Webhook.Deliveries = append(page.Webhook.Deliveries, deliveryFacts(showDelivery(d), ""))
	}
	page.Webhook.Again = s.againIn(shown)
	return err
}

func (s *Server) tellHold(ctx context.Context, _ call, j store.Job, page *web.Job) error {
	if j.Hold == nil {
		return nil
	}
	page.Hold = &web.Hold{Credits: j.Hold.Credits, State: j.Hold.State}
	list, err := s.o.DB.JobMovements(ctx, j.ID)
	for _, m := range list {
		page.Hold.Movements = append(page.Hold.Movements, web.Movement{ID: m.ID, At: m.At, Kind: m.Kind, Amount: m.Amount, Held: m.Held, Spent: m.Spent})
	}
	return err
}

// factsOf is a JSON object as a list, its names in order.
func factsOf(object json.RawMessage) (list []web.Fact) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields) // our own row, or nothing
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			var compact bytes.Buffer
			_ = json.Compact(&compact, raw)
			text = compact.String()
		}
		list = append(list, web.Fact{Name: name, Value: text})
	}
	slices.SortFunc(list, func(a, b web.Fact) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func requirements(raw json.RawMessage) (list []web.Fact) {
	var r api.Requires
	if json.Unmarshal(raw, &r) != nil { // there are none
		return nil
	}
	if len(r.Tags) > 0 {
		list = append(list, web.Fact{Name: "Tags", Value: strings.Join(r.Tags, ", ")})
	}
	if r.MinMemoryGB != nil {
		list = append(list, web.Fact{Name: "Memory", Value: fmt.Sprintf("at least %g GB", *r.MinMemoryGB)})
	}
	return list
}
