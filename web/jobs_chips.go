package web

import "slices"

// Pill is a status that is in the filter or is not.
type Pill struct {
	Status, At string
	On         bool
}

// Pills are all statuses.
func (f JobFilter) Pills() (list []Pill) {
	for _, status := range statuses {
		if slices.Contains(f.Statuses, status) {
			list = append(list, Pill{status, f.without(status), true})
			continue
		}
		g := f
		g.Statuses = append(slices.Clone(f.Statuses), status)
		list = append(list, Pill{status, g.At(""), false})
	}
	return list
}

// without is the address of the list without a status.
func (f JobFilter) without(status string) string {
	f.Statuses = slices.DeleteFunc(slices.Clone(f.Statuses), func(s string) bool { return s == status })
	return f.At("")
}

// Chip is one thing that is set; At is the list without it.
type Chip struct{ Kind, Text, At string }

// Chips are what is set and what no pill and no list of choices shows.
func (j Jobs) Chips() (list []Chip) {
	f, account := j.Filter, ""
	if len(j.Choices.Accounts) == 0 {
		account = f.Account.Name
	}
	for _, c := range []struct{ name, kind, value string }{
		{"q", "Text", f.Query},
		{"account", "Account", account},
		{"age", "Created in", f.strangeAge()},
		{"since", "Created since", f.Since},
		{"until", "Created before", f.Until},
	} {
		if c.value != "" {
			v := f.values()
			v.Del(c.name)
			list = append(list, Chip{c.kind, c.value, jobsAt(v)})
		}
	}
	for _, status := range f.strangeStatuses() {
		list = append(list, Chip{"State", status, f.without(status)})
	}
	for i, label := range f.Labels {
		g := f
		g.Labels = slices.Delete(slices.Clone(f.Labels), i, i+1)
		list = append(list, Chip{"Label", asWritten(label), g.At("")})
	}
	return list
}

func (f JobFilter) strangeAge() string {
	if slices.ContainsFunc(ages, func(a age) bool { return a.Value == f.Age }) {
		return ""
	}
	return f.Age
}

func (f JobFilter) strangeStatuses() (list []string) {
	for _, status := range f.Statuses {
		if !slices.Contains(statuses, status) {
			list = append(list, status)
		}
	}
	return list
}
