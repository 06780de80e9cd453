package web

import (
	"strings"
	"time"
)

// Overview is the page that is left open.
type Overview struct {
	Mine   bool // the jobs are of one account
	Macs   []MacLane
	Room   *Room // nil where the key may not know
	Now    []NowRow
	Next   []NextRow
	Queued int
	Many   bool // more than Queued
	Lately []EndedRow
	Failed bool // more have failed than stand in Lately
	Hours  []HourCount
}

func (Overview) template() string { return "overview.html" }

// Room is what the Macs have left.
type Room struct {
	Free  int            // slots of the Macs that take jobs
	Next  *time.Duration // where none is: until one is; nil where nobody can tell
	Share *float64       // of all slots' time in the day; nil where there are none
}

// Empty tells that there is nothing to show yet.
func (o Overview) Empty() bool {
	return len(o.Macs)+len(o.Now)+len(o.Next)+len(o.Lately)+o.Queued == 0
}

// maxNow bounds the rows; of more, the number says enough.
const maxNow = 60

// Running are the rows that are shown.
func (o Overview) Running() []NowRow { return o.Now[:min(len(o.Now), maxNow)] }

// MoreRunning is how many are not.
func (o Overview) MoreRunning() int { return len(o.Now) - len(o.Running()) }

// JobRef is a job in a row.
type JobRef struct {
	ID, Name        string
	File            string // the first of its Files; empty where that has no name
	Files           int
	Service, Preset string
}

// What is asked for, in short: "transcode · web-1080p".
func (j JobRef) What() string { return what(j.Service, j.Preset) }

// Origin is its name, and what it is made of.
func (j JobRef) Origin() string { return origin(j.Name, j.File, j.Files) }

// origin says "evening.mp4, of intro.mov and 2 more files".
func origin(name, file string, files int) string {
	switch {
	case file == "":
		return name
	case files > 1:
		return name + ", of " + file + " and " + plural(files-1, "more file", "more files")
	}
	return name + ", of " + file
}

// NowRow is a run under way.
type NowRow struct {
	JobRef
	Mac string
	Progress
	Cancelling bool
}

// State is what the row says of itself.
func (r NowRow) State() string {
	if r.Cancelling {
		return "cancelling"
	}
	return r.Phase
}

// NextRow is a job that waits. One of what follows says for what.
type NextRow struct {
	JobRef
	Start     *time.Duration // until it starts, as far as anyone can tell
	Reading   bool           // the server reads its file first
	WaitingOn *JobRef        // whose output it needs
	Lacks     []string       // what no Mac that is online offers
	NoMac     bool           // none takes jobs
}

// When says when it starts, in words.
func (r NextRow) When() string {
	switch {
	case r.Reading:
		return "once its file is read"
	case len(r.Lacks) > 0:
		return "waits for a Mac that offers " + listed(r.Lacks)
	case r.NoMac:
		return "waits for a Mac that takes jobs"
	case r.Start == nil:
		return "when a slot is free"
	case *r.Start <= 0:
		return "now"
	}
	return "in " + about(*r.Start)
}

// Stuck tells that it does not start by itself.
func (r NextRow) Stuck() bool { return len(r.Lacks) > 0 || r.NoMac }

// EndedRow is a job that has ended.
type EndedRow struct {
	JobRef
	Status  string
	Message string // of a failure
	Took    time.Duration
	At      time.Time
}

// Why is what a failure says.
func (r EndedRow) Why() string { return fullSentence(r.Message) }

func listed(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// MoreQueued says what of the queue is not shown.
func (o Overview) MoreQueued() string {
	switch n := o.Queued - len(o.Next); {
	case o.Many:
		return "More than " + Count(n) + " more"
	case n > 0:
		return Count(n) + " more"
	}
	return ""
}
