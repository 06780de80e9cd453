package web

import (
	"net/url"
	"slices"
	"time"
)

// JobFilter is what narrows the list: the address says it, so that it can be
// kept and sent.
type JobFilter struct {
	Statuses     []string
	Service      string
	Device       Choice
	Account      Choice
	Labels       []string // key:value
	Query        string
	Age          string // one of Ages
	Since, Until string // as the API takes them
}

// ages are how new jobs may have to be.
var ages = []struct {
	Choice
	time.Duration
}{
	{Choice{"1h", "the last hour"}, time.Hour},
	{Choice{"24h", "the last 24 hours"}, 24 * time.Hour},
	{Choice{"7d", "the last 7 days"}, 7 * 24 * time.Hour},
	{Choice{"30d", "the last 30 days"}, 30 * 24 * time.Hour},
}

// AgeOf is how long before now an age reaches; false is what is no age.
func AgeOf(text string) (time.Duration, bool) {
	for _, a := range ages {
		if a.Value == text {
			return a.Duration, true
		}
	}
	return 0, false
}

// Ages are what the filter offers.
func (JobFilter) Ages() (list []Choice) {
	for _, a := range ages {
		list = append(list, a.Choice)
	}
	return list
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

// Pill is a status that is in the filter or is not.
type Pill struct {
	Status, At string
	On         bool
}

// Pills are all statuses, in the order of a job's life.
func (f JobFilter) Pills() (list []Pill) {
	for _, status := range []string{"queued", "active", "verifying", "cancelling", "succeeded", "failed", "cancelled"} {
		g, on := f, slices.Contains(f.Statuses, status)
		g.Statuses = slices.Clone(f.Statuses)
		if on {
			g.Statuses = slices.DeleteFunc(g.Statuses, func(s string) bool { return s == status })
		} else {
			g.Statuses = append(g.Statuses, status)
		}
		list = append(list, Pill{status, g.At(""), on})
	}
	return list
}

// Chip is one thing that is set; At is the list without it.
type Chip struct{ Kind, Text, At string }

// Chips are what is set beside the statuses.
func (f JobFilter) Chips() (list []Chip) {
	for _, c := range []struct{ name, kind, value, text string }{
		{"q", "Text", f.Query, f.Query},
		{"service", "Service", f.Service, f.Service},
		{"device", "Mac", f.Device.Value, f.Device.Name},
		{"account", "Account", f.Account.Value, f.Account.Name},
		{"age", "Created in", f.Age, f.ageName()},
		{"since", "Created since", f.Since, f.Since},
		{"until", "Created before", f.Until, f.Until},
	} {
		if c.value != "" {
			v := f.values()
			v.Del(c.name)
			list = append(list, Chip{c.kind, c.text, jobsAt(v)})
		}
	}
	for i, label := range f.Labels {
		g := f
		g.Labels = slices.Delete(slices.Clone(f.Labels), i, i+1)
		list = append(list, Chip{"Label", label, g.At("")})
	}
	return list
}

func (f JobFilter) ageName() string {
	for _, a := range ages {
		if a.Value == f.Age {
			return a.Name
		}
	}
	return f.Age
}
