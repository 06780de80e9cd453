package web

import (
	"fmt"
	"time"
)

// Story is the attempts as lanes on one scale of time. Only waiting is drawn
// shorter than it was, where it would leave no room for the work.
type Story struct {
	From, To time.Time
	Live     bool // To is now
	Lanes    []Lane
}

// Story lays out the attempts; nil where there was none.
func (j Job) Story() *Story {
	if len(j.Attempts) == 0 {
		return nil
	}
	s, cuts := j.scale()
	out := &Story{From: j.Created, To: s.at[len(s.at)-1], Live: j.Live() != nil}
	before := j.Created
	for i, a := range j.Attempts {
		if j.Status == "failed" && i == len(j.Attempts)-1 && a.Failure == j.Failure {
			a.Failure = "" // it stands above, as the job's
		}
		out.Lanes = append(out.Lanes, s.lane(a, before, j.Now, cuts[i]))
		before = a.end(j.Now)
	}
	return out
}

const waitShare = 0.12 // of all work, the most that one wait takes

// scale has a piece for each wait and each attempt; cuts tells which attempts had
// a wait before them that is drawn shorter than it was.
func (j Job) scale() (s scale, cuts []bool) {
	var work time.Duration
	for _, a := range j.Attempts {
		work += a.end(j.Now).Sub(a.Leased)
	}
	longest := max(work.Seconds(), 0.001) * waitShare
	s = scale{at: []time.Time{j.Created}, shown: []float64{0}}
	for _, a := range j.Attempts {
		cuts = append(cuts, s.wait(a.Leased, longest))
		s.add(a.end(j.Now))
	}
	return s, cuts
}

func (a Attempt) end(now time.Time) time.Time {
	if a.Ended != nil {
		return *a.Ended
	}
	return now
}

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
