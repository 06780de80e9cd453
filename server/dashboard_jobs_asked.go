package server

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"rendermac/fence"
	"rendermac/web"
)

// maxAccounts is how many the list of jobs offers to choose from.
const maxAccounts = 200

// jobsAsked reads an address of the page: the filters of GET /v1/jobs, and age. What
// of it cannot be meant is the page's to say.
func (s *Server) jobsAsked(ctx context.Context, c call) (jobList, web.Jobs, error) {
	q := c.echo.QueryParams()
	f := web.JobFilter{
		Statuses: named(strings.Split(strings.Join(q["status"], ","), ",")), Service: q.Get("service"), Labels: named(web.AskedLabels(q["label"])),
		Query: strings.TrimSpace(q.Get("q")), Age: q.Get("age"), Since: q.Get("since"), Until: q.Get("until"),
		Device:  web.Choice{Value: q.Get("device"), Name: web.Short(q.Get("device"))},
		Account: web.Choice{Value: q.Get("account"), Name: web.Short(q.Get("account"))},
	}
	in := jobList{
		Paging: Paging{Cursor: q.Get("cursor")}, Status: f.Statuses, Service: f.Service, Query: f.Query, Label: f.Labels,
		Account: f.Account.Value, Device: f.Device.Value,
	}
	in.Since, in.Until = f.Times(s.o.Now())
	page := web.Jobs{Filter: f, Newest: in.Cursor == ""}
	page.LostPlace = in.open("listJobs") != nil
	return in, page, s.offerChoices(ctx, c, &page)
}

// named are the texts that are not empty, each once.
func named(texts []string) (list []string) {
	for _, text := range texts {
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// offerChoices lists what the filter can be set to. What it is set to is among them,
// so that each list says what is.
func (s *Server) offerChoices(ctx context.Context, c call, page *web.Jobs) (err error) {
	f, choices := &page.Filter, &page.Choices
	for _, service := range s.o.Catalogue.All() {
		choices.Services = append(choices.Services, service.Name)
	}
	if f.Service != "" && !slices.Contains(choices.Services, f.Service) {
		choices.Services = append(choices.Services, f.Service)
	}
	if choices.Devices, err = s.devicesToChoose(ctx); err != nil {
		return err
	}
	if err := chosenIn(&choices.Devices, &f.Device, func(id string) (string, error) {
		d, err := s.o.DB.DeviceByID(ctx, id)
		return d.Name, err
	}); err != nil || !c.isAdmin() {
		return err
	}
	accounts, err := s.o.DB.Accounts(ctx, "", maxAccounts)
	if err != nil || len(accounts) < 2 {
		return err
	}
	for _, a := range accounts {
		choices.Accounts = append(choices.Accounts, web.Choice{Value: a.ID, Name: a.Name})
	}
	return chosenIn(&choices.Accounts, &f.Account, func(id string) (string, error) { return s.o.DB.AccountName(ctx, id) })
}

// devicesToChoose are those that take jobs; a revoked one is offered where it is asked for.
func (s *Server) devicesToChoose(ctx context.Context) (list []web.Choice, err error) {
	devices, err := s.o.DB.Devices(ctx, []string{"online", "offline", "draining"}, "", maxMacs)
	for _, d := range devices {
		list = append(list, web.Choice{Value: d.ID, Name: d.Name})
	}
	return list, err
}

// chosenIn gives what is chosen its name, and sees to it that it is in its list.
func chosenIn(list *[]web.Choice, chosen *web.Choice, nameOf func(id string) (string, error)) error {
	if chosen.Value == "" {
		return nil
	}
	if i := slices.IndexFunc(*list, func(c web.Choice) bool { return c.Value == chosen.Value }); i >= 0 {
		*chosen = (*list)[i]
		return nil
	}
	name, err := nameOf(chosen.Value)
	if err != nil && fence.CodeOf(err) != fence.CodeNotFound {
		return err
	}
	chosen.Name = cmp.Or(name, chosen.Name)
	*list = append(*list, *chosen)
	return nil
}
