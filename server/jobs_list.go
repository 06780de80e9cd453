package server

import (
	"context"
	"slices"
	"strings"
	"time"

	"rendermac/api"
	"rendermac/store"
)

// jobList are the filters of GET /v1/jobs.
type jobList struct {
	Paging
	Status  []string  `query:"status" enum:"queued,active,verifying,cancelling,succeeded,failed,cancelled" doc:"any of these"`
	Service string    `query:"service" maxLength:"100"`
	Account string    `query:"account" maxLength:"100" doc:"the id of the account; another account than its own lists nothing for a key below admin"`
	Device  string    `query:"device" maxLength:"100" doc:"the id of a device that has had an attempt"`
	Label   []string  `query:"label,explode" maxItems:"32" doc:"key:value; where it stands more than once, all must match"`
	Query   string    `query:"q" maxLength:"200" doc:"part of the output's name, an input's name or a label's value, or the start of an id; case does not count in ASCII"`
	Since   time.Time `query:"since" doc:"created then or later"`
	Until   time.Time `query:"until" doc:"created before"`
}

func (s *Server) listJobs(ctx context.Context, c call, in *jobList) (*body[api.List[api.JobItem]], error) {
	out := api.List[api.JobItem]{Items: []api.JobItem{}}
	f, err := in.filter()
	if err != nil {
		return nil, err
	}
	if !c.isAdmin() {
		if f.AccountID != "" && f.AccountID != c.key.AccountID {
			return answerWith(out), nil // as if it were not there
		}
		f.AccountID = c.key.AccountID
	}
	list, err := s.o.DB.Jobs(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, j := range list.Jobs {
		out.Items = append(out.Items, showItem(j))
	}
	out.NextCursor = orNil(list.Next)
	return answerWith(out), nil
}

func (in *jobList) filter() (store.JobFilter, error) {
	f := store.JobFilter{
		AccountID: in.Account, Statuses: slices.Compact(slices.Sorted(slices.Values(in.Status))), Service: in.Service, DeviceID: in.Device,
		Query: in.Query, Since: in.Since, Until: in.Until, Before: in.Cursor, Limit: in.Limit,
	}
	for _, text := range in.Label {
		key, value, ok := strings.Cut(text, ":")
		if !ok || key == "" {
			return f, invalid(api.Fault{Location: "query.label", Message: "must be key:value"})
		}
		f.Labels = append(f.Labels, [2]string{key, value})
	}
	return f, nil
}
