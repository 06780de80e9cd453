package web

import (
	"net/url"
	"slices"
	"time"
)

// JobFilter is what narrows the list: the address says it, so that it can be
// kept and sent. It holds what was asked for, right or wrong.
type JobFilter struct {
	Statuses     []string
	Service      string
	Device       Choice
	Account      Choice
	Labels       []string // as AskedLabels gives them
	Query        string
	Age          string // one of Ages
	Since, Until string // as the API takes them
}

// Choice is a value and what people call it.
type Choice struct{ Value, Name string }

// JobChoices are what the filter offers.
type JobChoices struct {
	Services []string
	Devices  []Choice
	Accounts []Choice // an admin's, where there are several
}

// AccountName is what an account is called, or its id in short.
func (c JobChoices) AccountName(id string) string {
	for _, a := range c.Accounts {
		if a.Value == id {
			return a.Name
		}
	}
	return Short(id)
}

// statuses are a job's, in the order of its life.
var statuses = []string{"queued", "active", "verifying", "cancelling", "succeeded", "failed", "cancelled"}

// age is how new jobs may have to be.
type age struct {
	Choice
	time.Duration
}

var ages = []age{
	{Choice{"1h", "the last hour"}, time.Hour},
	{Choice{"24h", "the last 24 hours"}, 24 * time.Hour},
	{Choice{"7d", "the last 7 days"}, 7 * 24 * time.Hour},
	{Choice{"30d", "the last 30 days"}, 30 * 24 * time.Hour},
}

// Ages are what the filter offers.
func (JobFilter) Ages() (list []Choice) {
	for _, a := range ages {
		list = append(list, a.Choice)
	}
	return list
}

// Times are between which two a job must have been created; zero is no bound, and
// so is what is no time.
func (f JobFilter) Times(now time.Time) (since, until time.Time) {
	since, _ = time.Parse(time.RFC3339, f.Since)
	until, _ = time.Parse(time.RFC3339, f.Until)
	for _, a := range ages {
		if at := now.Add(-a.Duration); a.Value == f.Age && at.After(since) {
			since = at
		}
	}
	return since, until
}

// Narrows tells whether anything is set.
func (f JobFilter) Narrows() bool { return len(f.values()) > 0 }

func (f JobFilter) values() url.Values {
	v := url.Values{}
	for _, one := range []struct{ name, value string }{
		{"service", f.Service}, {"device", f.Device.Value}, {"account", f.Account.Value}, {"q", f.Query}, {"age", f.Age}, {"since", f.Since}, {"until", f.Until},
	} {
		if one.value != "" {
			v.Set(one.name, one.value)
		}
	}
	for _, status := range f.Statuses {
		v.Add("status", status)
	}
	for _, label := range f.Labels {
		v.Add("label", label)
	}
	return v
}

// At is the address of the list with this filter, from a cursor on or from the
// newest.
func (f JobFilter) At(cursor string) string {
	v := f.values()
	if cursor != "" {
		v.Set("cursor", cursor)
	}
	return jobsAt(v)
}

func jobsAt(v url.Values) string {
	if len(v) == 0 {
		return "/jobs"
	}
	return "/jobs?" + v.Encode()
}

// With is the address of the list that this label narrows further.
func (f JobFilter) With(l Label) string {
	if label := l.Asked(); !slices.Contains(f.Labels, label) {
		f.Labels = append(slices.Clone(f.Labels), label)
	}
	return f.At("")
}

// Elsewhere is the address where all jobs are searched for the same text; empty
// where nothing else narrows.
func (f JobFilter) Elsewhere() string {
	if f.Query == "" || len(f.values()) == 1 {
		return ""
	}
	return JobFilter{Query: f.Query}.At("")
}
