package server

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"rendermac/api"
	"rendermac/fence"
	"rendermac/store"
	"rendermac/web"
)

// jobsAsked reads an address of the page: the filters of GET /v1/jobs, and age.
func (s *Server) jobsAsked(ctx context.Context, c call) (jobList, web.Jobs, error) {
	q := c.echo.QueryParams()
	page := web.Jobs{Newest: q.Get("cursor") == "", Filter: web.JobFilter{
		Service: q.Get("service"), Query: strings.TrimSpace(q.Get("q")), Since: q.Get("since"), Until: q.Get("until"), Age: q.Get("age"),
	}}
	f := &page.Filter
	for _, status := range strings.Split(strings.Join(q["status"], ","), ",") {
		if slices.Contains(fence.JobStatuses, fence.JobStatus(status)) && !slices.Contains(f.Statuses, status) {
			f.Statuses = append(f.Statuses, status)
		}
	}
	f.Labels = slices.DeleteFunc(slices.Clone(q["label"]), func(label string) bool { return label == "" })
	in := jobList{
		Paging: Paging{Cursor: q.Get("cursor")}, Status: f.Statuses, Service: f.Service, Query: f.Query, Label: f.Labels,
		Account: q.Get("account"), Device: q.Get("device"),
	}
	err := in.open("listJobs")
	if age, is := web.AgeOf(f.Age); is {
		in.Since = s.o.Now().Add(-age)
	}
	for _, bound := range []struct {
		name, text string
		at         *time.Time
	}{{"since", f.Since, &in.Since}, {"until", f.Until, &in.Until}} {
		if bound.text != "" && err == nil {
			if *bound.at, err = time.Parse(time.RFC3339, bound.text); err != nil {
				err = invalid(api.Fault{Location: "query." + bound.name, Message: "must be a time such as 2026-12-01T14:30:00Z"})
			}
		}
	}
	if err == nil {
		err = s.nameChoices(ctx, c, in, &page)
	}
	return in, page, err
}

// nameChoices says what devices and accounts in the filter are called; below admin
// the devices' names are everybody's to see, the accounts' are not.
func (s *Server) nameChoices(ctx context.Context, c call, in jobList, page *web.Jobs) error {
	for _, service := range s.o.Catalogue.All() {
		page.Choices.Services = append(page.Choices.Services, service.Name)
	}
	devices, err := s.o.DB.Devices(ctx, []string{"online", "offline", "draining"}, "", maxMacs)
	if err != nil {
		return err
	}
	f := &page.Filter
	f.Device, f.Account = web.Choice{Value: in.Device, Name: web.Short(in.Device)}, web.Choice{Value: in.Account, Name: web.Short(in.Account)}
	if in.Device != "" && !slices.ContainsFunc(devices, func(d store.Device) bool { return d.ID == in.Device }) {
		if gone, err := s.o.DB.DeviceByID(ctx, in.Device); err == nil {
			devices = append(devices, gone)
		} else if fence.CodeOf(err) != fence.CodeNotFound {
			return err
		}
	}
	for _, d := range devices {
		page.Choices.Devices = append(page.Choices.Devices, web.Choice{Value: d.ID, Name: d.Name})
		if d.ID == in.Device {
			f.Device.Name = d.Name
		}
	}
	if in.Account != "" && c.isAdmin() {
		name, err := s.o.DB.AccountName(ctx, in.Account)
		if err != nil && fence.CodeOf(err) != fence.CodeNotFound {
			return err
		}
		f.Account.Name = cmp.Or(name, f.Account.Name)
	}
	return nil
}
