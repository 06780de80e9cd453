package web

import (
	"strconv"
	"time"
)

// Delivery is one webhook and what has come of it so far.
type Delivery struct {
	ID, JobID, Account string
	URL, Event, State  string
	Tries              int
	LastStatus         *int   // of the last answer
	LastError          string // why the last try did not count
	NextTry            *time.Time
	CreatedAt          time.Time
}

// Answer is what the receiver has answered last, in words.
func (d Delivery) Answer() string {
	switch {
	case d.State != "delivered" && d.LastError != "":
		return Sentence(d.LastError)
	case d.LastStatus != nil:
		return "The receiver answered " + strconv.Itoa(*d.LastStatus)
	}
	return "Not tried yet"
}

// Deliveries is a page of them, the newest first.
type Deliveries struct {
	State string // empty: any
	Rows  []Delivery
	Again int // seconds until the first of them is tried next; none is: 0
	Paging
}

type choice struct {
	Name, URL string
	Chosen    bool
}

// Choices narrow the list to a state.
func (d Deliveries) Choices() []choice {
	choices := []choice{{"All", "/settings#webhooks", d.State == ""}}
	for _, state := range []string{"pending", "failed", "delivered"} {
		choices = append(choices, choice{Sentence(state), "/settings?state=" + state + "#webhooks", d.State == state})
	}
	return choices
}
