package web

import "strings"

// Label is one of a job's own words.
type Label struct{ Key, Value string }

// String is how people write it, here and on the command line.
func (l Label) String() string { return l.Key + "=" + l.Value }

// Asked is how an address has it, and the API's.
func (l Label) Asked() string { return l.Key + ":" + l.Value }

// readLabel takes a label written either way: its key ends at the first = or colon.
func readLabel(text string) (Label, bool) {
	at := strings.IndexAny(text, "=:")
	if at < 1 {
		return Label{}, false
	}
	return Label{text[:at], text[at+1:]}, true
}

// AskedLabels are labels as an address has them. What is no label stays as it is.
func AskedLabels(texts []string) (list []string) {
	for _, text := range texts {
		if l, ok := readLabel(text); ok {
			text = l.Asked()
		}
		list = append(list, text)
	}
	return list
}

// asWritten is an asked label as people write it.
func asWritten(asked string) string {
	if l, ok := readLabel(asked); ok {
		return l.String()
	}
	return asked
}
