package web

import (
	"strconv"
	"strings"
	"time"
)

// Jobs is the list of jobs.
type Jobs struct {
	Filter    JobFilter
	LostPlace bool // the address begins at a place that this list does not have
	Rows      []JobRow
	Newest    bool   // whether it begins with the newest
	Older     string // the cursor of the page after this one; empty at the end
	Looked    bool   // the page ended for having looked long enough: more may match
	Choices   JobChoices
}

func (Jobs) template() string { return "jobs.html" }

// JobRow is one job in the list.
type JobRow struct {
	ID, Name        string
	Account         string // whose it is; empty where that goes without saying
	Status          string
	Service, Preset string
	Device          string    // of the newest attempt; empty where there was none
	Progress        *Progress // while a device has it
	Attempt         int       // the newest's number
	WaitingOn       string    // the job whose output it needs
	Reading         bool      // its files are being read first
	Priority        int
	Failure         string // why it has failed, or why its newest attempt did while it waits
	Created         time.Time
	Took            time.Duration // of what has run to its end
	Labels          []Label
}

// IsNone tells that there is no job at all, not even one that does not match.
func (j Jobs) IsNone() bool {
	return len(j.Rows) == 0 && j.Newest && j.Older == "" && !j.Filter.Narrows()
}

// Faults are what the list could not be made by.
func (j Jobs) Faults() []string {
	list := j.Filter.faults()
	if j.LostPlace {
		list = append(list, "This page of the list is not known: its address is not whole, or of another list. Begin with the newest.")
	}
	return list
}

// States are all that a job can be in.
func (Jobs) States() []string { return statuses }

// OfSeveral tells whether rows must say whose they are.
func (j Jobs) OfSeveral() bool { return len(j.Choices.Accounts) > 1 && j.Filter.Account.Value == "" }

// What is asked for, in short: "transcode · web-1080p".
func (r JobRow) What() string { return what(r.Service, r.Preset) }

func what(service, preset string) string {
	name := service[strings.LastIndex(service, ".")+1:]
	if preset != "" {
		name += " · " + preset
	}
	return name
}

// Note is what there is to say of a job that no device has.
func (r JobRow) Note() string {
	var said []string
	switch {
	case r.Status == "failed":
		return fullSentence(r.Failure)
	case r.Status != "queued":
		return ""
	case r.WaitingOn != "":
		said = append(said, "waits for another job")
	case r.Reading:
		said = append(said, "its files are read first")
	case r.Attempt > 0:
		said = append(said, "attempt "+strconv.Itoa(r.Attempt)+" ended: "+strings.TrimSuffix(r.Failure, "."))
	}
	if r.Priority != 0 {
		said = append([]string{"priority " + signed(r.Priority)}, said...)
	}
	return strings.Join(said, ", ")
}

func signed(n int) string {
	if n < 0 {
		return "−" + strconv.Itoa(-n)
	}
	return "+" + strconv.Itoa(n)
}
