package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Lane is one attempt. Places are in percent of the width.
type Lane struct {
	Attempt
	Parts  []Part
	Points []Point
	Late   bool   // it ends in the right half: so do its words
	Beside string // the width that its words leave free: before them, or after them where it is late
	total  time.Duration
}

// Part is a stretch of a lane: a phase, or "waited" before it.
type Part struct {
	Name, Word, Title string
	X, Width          string
	Wide              bool // there is room for its name
	Cut               bool // shorter than it was
}

// Point is a mark in a lane.
type Point struct {
	Kind, Title, X string
	Epoch          int64
	Last           bool // at the right edge: what it bears stands before it
}

const (
	wideShare = 14  // percent of the width, from which on a part bears its name
	leastPart = 0.4 // percent: what was short is still seen
	apart     = 4.0 // percent between two resumes, at least
	mostLate  = 60  // percent that the words of a late lane leave free at most
)

func (s *scale) lane(a Attempt, before, now time.Time, cut bool) Lane {
	end := a.end(now)
	at := s.place(end)
	lane := Lane{Attempt: a, Late: at > 50, Beside: percentage(at), total: end.Sub(a.Leased)}
	if lane.Late {
		lane.Beside = percentage(min(100-at, mostLate))
	}
	if a.Leased.Sub(before) >= time.Second {
		wait := s.part("waited", before, a.Leased)
		wait.Cut = cut
		lane.Parts = append(lane.Parts, wait)
	}
	for _, p := range a.Phases {
		lane.Parts = append(lane.Parts, s.part(p.Name, p.From, p.To))
	}
	lane.Points = s.points(a.Marks)
	return lane
}

// points leaves out of many resumes those that would stand on the one before.
func (s *scale) points(marks []Mark) (list []Point) {
	last := -apart
	for _, m := range marks {
		at := s.place(m.At)
		if m.Kind == "resumed" {
			if at-last < apart {
				continue
			}
			last = at
		}
		list = append(list, Point{m.Kind, m.title(), percentage(at), m.Epoch, at > 100-apart})
	}
	return list
}

var phaseWords = map[string]string{"leased": "start", "downloading": "download", "running": "run", "uploading": "upload", "verifying": "verify"}

func (s *scale) part(name string, from, to time.Time) Part {
	x, end := s.place(from), s.place(to)
	width := max(end-x, leastPart)
	word := phaseWords[name]
	if word == "" {
		word = name
	}
	return Part{
		Name: name, Word: word, Title: word + " " + Duration(to.Sub(from)), X: percentage(min(x, 100-width)), Width: percentage(width),
		Wide: name != "waited" && end-x > wideShare,
	}
}

// Sentence says how the attempt ended, and why.
func (l Lane) Sentence() string {
	if l.Ended == nil {
		return Duration(l.total) + " so far"
	}
	said := Sentence(l.Status) + " after " + Duration(l.total)
	if l.Failure != "" && l.Status != "succeeded" {
		return said + ": " + strings.TrimSuffix(l.Failure, ".") + "."
	}
	return said + "."
}

// Spans are how long it was in what, in words.
func (l Lane) Spans() string {
	var said []string
	for _, p := range l.Parts {
		said = append(said, p.Title)
	}
	if came := l.cameBack(); came != "" {
		said = append(said, came)
	}
	return strings.Join(said, " · ")
}

// cameBack says which epochs there were beside the first.
func (l Lane) cameBack() string {
	var epochs []string
	for _, m := range l.Marks {
		if m.Kind == "resumed" {
			epochs = append(epochs, strconv.FormatInt(m.Epoch, 10))
		}
	}
	switch n := len(epochs); {
	case n == 0:
		return ""
	case n > 3:
		return fmt.Sprintf("came back %s times, last as epoch %s", Count(n), epochs[n-1])
	}
	return "came back as epoch " + listed(epochs)
}
