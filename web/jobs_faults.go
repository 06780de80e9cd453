package web

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a filter, as the API has them.
const (
	longestQuery = 200
	mostLabels   = 32
)

// faults are what of a filter cannot be meant, each a sentence that says what could.
func (f JobFilter) faults() (list []string) {
	add := func(what, text, want string) {
		list = append(list, fmt.Sprintf("%s cannot be “%s”: %s.", what, text, want))
	}
	for _, status := range f.strangeStatuses() {
		add("A state", status, "it is "+either(statuses))
	}
	if text := f.strangeAge(); text != "" {
		add("The age", text, "it is 1h, 24h, 7d or 30d")
	}
	for _, label := range f.Labels {
		if _, ok := readLabel(label); !ok {
			add("A label", label, "it is a key and a value, such as client=acme")
		}
	}
	for _, bound := range [][2]string{{"Created since", f.Since}, {"Created before", f.Until}} {
		if _, err := time.Parse(time.RFC3339, bound[1]); bound[1] != "" && err != nil {
			add(bound[0], bound[1], "it is a time such as 2026-12-01T14:30:00Z")
		}
	}
	if n := utf8.RuneCountInString(f.Query); n > longestQuery {
		list = append(list, fmt.Sprintf("The text to search for has %d characters: at most %d can be searched for.", n, longestQuery))
	}
	if n := len(f.Labels); n > mostLabels {
		list = append(list, fmt.Sprintf("There are %d labels: at most %d can be asked for.", n, mostLabels))
	}
	return list
}

func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
