package web

import (
	"fmt"
	"strings"
	"time"
)

// Sentence is the page's first line: who works, what waits, and until when.
func (o Overview) Sentence() string {
	said := []string{o.working(), o.waiting()}
	if then := o.then(); then != "" {
		said = append(said, then)
	}
	return strings.Join(said, ", ") + "."
}

func (o Overview) working() string {
	busy, of := 0, map[string]int{}
	for _, m := range o.Macs {
		of[m.State]++
		if m.Busy > 0 {
			busy++
		}
	}
	switch {
	case busy > 0:
		return plural(busy, "Mac working", "Macs working")
	case of["online"] > 0:
		return plural(of["online"], "Mac ready", "Macs ready")
	case of["draining"] > 0:
		return plural(of["draining"], "Mac draining", "Macs draining")
	case len(o.Macs) == 1:
		return "The Mac is offline"
	}
	return fmt.Sprintf("All %s Macs are offline", Count(len(o.Macs)))
}

func (o Overview) waiting() string {
	of := ""
	if o.Mine {
		of = " of yours"
	}
	switch {
	case o.Queued == 0:
		return "nothing" + of + " queued"
	case o.Many:
		return "more than " + Count(o.Queued) + " jobs" + of + " queued"
	}
	return plural(o.Queued, "job"+of+" queued", "jobs"+of+" queued")
}

// then says when something changes: nothing where nobody can tell.
func (o Overview) then() string {
	first := o.first()
	switch {
	case o.Queued == 1 && first == nil && o.stuck():
		return "and no Mac can take it yet"
	case o.Queued > 0 && first == nil && o.stuck():
		return "and no Mac can take them yet"
	case o.Mine && first != nil && *first > 0:
		return "the next one starts in " + about(*first)
	case o.Room == nil:
		return ""
	case o.Room.Free > 0 && o.Queued == 0:
		return plural(o.Room.Free, "slot", "slots") + " free"
	case o.Room.Free == 0 && o.Room.Next != nil:
		return "next free in " + about(*o.Room.Next)
	}
	return ""
}

// first is when the first of the queue starts.
func (o Overview) first() *time.Duration {
	for _, r := range o.Next {
		if r.Start != nil {
			return r.Start
		}
	}
	return nil
}

// stuck tells that all that is shown of the queue waits for another Mac.
func (o Overview) stuck() bool {
	for _, r := range o.Next {
		if !r.Stuck() {
			return false
		}
	}
	return len(o.Next) > 0
}

// about says a guess: no more exactly than it is.
func about(d time.Duration) string {
	switch {
	case d < 50*time.Second:
		return "under a minute"
	case d < time.Hour-30*time.Second:
		return fmt.Sprintf("about %d min", (d+time.Minute/2)/time.Minute)
	case d < 10*time.Hour:
		return "about " + Duration(d.Round(10*time.Minute))
	}
	return "about " + Duration(d.Round(time.Hour))
}
