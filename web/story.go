package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Story is the attempts as lanes on one scale of time. Only waiting is drawn
// shorter than it was, where it would leave no room for the work.
type Story struct {
	From, To time.Time
	Lanes    []Lane
}

// Lane is one attempt. Places are in percent of the width.
type Lane struct {
	Attempt
	Parts  []Part
	Points []Point
	Late   bool // it ends in the right half: so do its words
	total  time.Duration
}

// Part is a stretch of a lane: a phase, or "waited" before it.
type Part struct {
	Name, Title string
	X, Width    string
	Wide        bool // there is room for its name
	Cut         bool // shorter than it was
}

// Point is a mark in a lane.
type Point struct{ Kind, Title, X string }

const (
	waitShare = 0.12 // of all work, the most that one wait takes
	wideShare = 0.15 // of the width, from which on a part bears its name
	leastPart = 0.4  // percent: what was short is still seen
)

// scale turns moments into places: piecewise, for waits may be cut.
type scale struct {
	at    []time.Time
	shown []float64 // seconds from the beginning, at each of them
}

func (s scale) place(t time.Time) float64 {
	total := max(s.shown[len(s.shown)-1], 0.001)
	for i := 1; i < len(s.at); i++ {
		if t.After(s.at[i]) && i < len(s.at)-1 {
			continue
		}
		share := 1.0
		if span := s.at[i].Sub(s.at[i-1]).Seconds(); span > 0 {
			share = min(max(t.Sub(s.at[i-1]).Seconds()/span, 0), 1)
		}
		return 100 * (s.shown[i-1] + share*(s.shown[i]-s.shown[i-1])) / total
	}
	return 100
}

// Story lays out the attempts; nil where there was none.
func (j Job) Story() *Story {
	if len(j.Attempts) == 0 {
		return nil
	}
	var work float64
	for _, a := range j.Attempts {
		work += a.end(j.Now).Sub(a.Leased).Seconds()
	}
	work = max(work, 0.001)
	s := scale{at: []time.Time{j.Created}, shown: []float64{0}}
	add := func(to time.Time, most float64) (cut bool) {
		last := len(s.at) - 1
		span := max(to.Sub(s.at[last]).Seconds(), 0)
		s.at, s.shown = append(s.at, to), append(s.shown, s.shown[last]+min(span, most))
		return span > most
	}
	var cuts []bool
	for _, a := range j.Attempts {
		cuts = append(cuts, add(a.Leased, work*waitShare))
		add(a.end(j.Now), work)
	}
	out := &Story{From: j.Created, To: s.at[len(s.at)-1]}
	before := j.Created
	for i, a := range j.Attempts {
		lane := Lane{Attempt: a, Late: s.place(a.end(j.Now)) > 50, total: a.end(j.Now).Sub(a.Leased)}
		if a.Leased.Sub(before) >= time.Second {
			wait := s.part("waited", before, a.Leased)
			wait.Cut, wait.Wide = cuts[i], false
			lane.Parts = append(lane.Parts, wait)
		}
		for _, p := range a.Phases {
			lane.Parts = append(lane.Parts, s.part(p.Name, p.From, p.To))
		}
		for _, m := range a.Marks {
			lane.Points = append(lane.Points, Point{m.Kind, m.title(), percentage(s.place(m.At))})
		}
		out.Lanes, before = append(out.Lanes, lane), a.end(j.Now)
	}
	return out
}

func (s scale) part(name string, from, to time.Time) Part {
	x, end := s.place(from), s.place(to)
	return Part{
		Name: name, Title: name + " " + Duration(to.Sub(from)), X: percentage(x), Width: percentage(max(end-x, leastPart)), Wide: end-x > 100*wideShare,
	}
}

func percentage(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "%" }

func (m Mark) title() string {
	switch m.Kind {
	case "resumed":
		return fmt.Sprintf("the Mac came back and goes on: epoch %d", m.Epoch)
	case "committed":
		return "the result was delivered"
	case "cancelled":
		return "it was told to stop"
	}
	return "a Mac took it"
}

func (a Attempt) end(now time.Time) time.Time {
	if a.Ended != nil {
		return *a.Ended
	}
	return now
}

// Sentence says how the attempt ended, and why.
func (l Lane) Sentence() string {
	switch {
	case l.Ended == nil:
		return "for " + Duration(l.total) + " so far"
	case l.Failure != "" && l.Status != "succeeded":
		return "after " + Duration(l.total) + ": " + fullSentence(l.Failure)
	}
	return "after " + Duration(l.total)
}

// Spoken is the lane for those who do not see it.
func (l Lane) Spoken() string {
	var said []string
	for _, p := range l.Parts {
		said = append(said, p.Title)
	}
	for _, m := range l.Marks {
		if m.Kind == "resumed" {
			said = append(said, m.title())
		}
	}
	return fmt.Sprintf("Attempt %d on %s: %s; %s", l.Number, l.Device, strings.Join(said, ", "), l.Status)
}

// Span is how long the attempt was in a phase, in words; empty where it was not.
func (a Attempt) Span(phase string) string {
	var d time.Duration
	found := false
	for _, p := range a.Phases {
		if p.Name == phase {
			d, found = d+p.To.Sub(p.From), true
		}
	}
	if !found {
		return ""
	}
	return Duration(d)
}

// All is how long it lasted, or has lasted.
func (l Lane) All() string { return Duration(l.total) }
