package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MacLane is a Mac, its slots, and when it worked.
type MacLane struct {
	ID, Name string
	State    string // online, offline, draining
	Seen     *time.Time
	Busy     int
	Slots    *int     // nil where the key may not know
	Share    *float64 // of its slots' time in the day; nil where the key may not know
	Worked   Day
}

// Day is when something ran in the 24 hours that end now.
type Day []Stretch

// Stretch is a time in which something ran, in minutes of the day.
type Stretch struct{ From, To float64 }

const (
	dayMinutes = 24 * 60
	maxLanes   = 24 // rows
	// maxStretches bounds a lane's path: the shortest pauses are closed first.
	maxStretches = 100
	thinnest     = 3 // minutes, so that a short run is seen
	maxSlots     = 16
)

// Lanes are the Macs that are shown: those that work first.
func (o Overview) Lanes() []MacLane {
	if len(o.Macs) <= maxLanes {
		return o.Macs
	}
	rank := map[string]int{"online": 1, "draining": 2, "offline": 3}
	macs := slices.SortedStableFunc(slices.Values(o.Macs), func(a, b MacLane) int {
		return cmp.Or(cmp.Compare(rank[a.State], rank[b.State]), cmp.Compare(b.Busy, a.Busy))
	})
	return macs[:maxLanes]
}

// MoreMacs is how many are not shown.
func (o Overview) MoreMacs() int { return len(o.Macs) - len(o.Lanes()) }

// Squares are the slots, each busy or free; of those that may not be known, the
// busy ones.
func (m MacLane) Squares() []bool {
	if m.Slots == nil {
		return squares(m.Busy, m.Busy)
	}
	return squares(m.Busy, *m.Slots)
}

// squares draw slots, those too that were taken away while they were busy. Of
// more than a few, the number says enough.
func squares(busy, slots int) []bool {
	all := max(busy, slots)
	if all > maxSlots {
		return nil
	}
	out := make([]bool, all)
	for i := range busy {
		out[i] = true
	}
	return out
}

// Path draws when it worked, on a ground of 1,440 by 10.
func (d Day) Path() string {
	var path strings.Builder
	for _, s := range merged(d) {
		from, width := int(s.From), max(thinnest, int(s.To)-int(s.From))
		from = min(from, dayMinutes-width)
		path.WriteString("M" + strconv.Itoa(from) + " 5h" + strconv.Itoa(width))
	}
	return path.String()
}

// Summary says it in words.
func (d Day) Summary() string {
	stretches, worked := merged(d), 0.0
	if len(stretches) == 0 {
		return "Did not work in the last 24 hours"
	}
	for _, s := range stretches {
		worked += s.To - s.From
	}
	minutes := max(1, math.Round(worked))
	return "Worked for " + Duration(time.Duration(minutes)*time.Minute) + " of the last 24 hours"
}

// merged are the stretches within the day, in order and apart from each other.
func merged(list []Stretch) []Stretch {
	var in []Stretch
	for _, s := range list {
		if s = (Stretch{max(s.From, 0), min(s.To, dayMinutes)}); s.To >= s.From {
			in = append(in, s)
		}
	}
	slices.SortFunc(in, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
	for pause := 1.0; ; pause *= 2 {
		if in = joined(in, pause); len(in) <= maxStretches {
			return in
		}
	}
}

// joined closes the pauses that are no longer than pause.
func joined(list []Stretch, pause float64) (out []Stretch) {
	for _, s := range list {
		if n := len(out); n > 0 && s.From-out[n-1].To <= pause {
			out[n-1].To = max(out[n-1].To, s.To)
		} else {
			out = append(out, s)
		}
	}
	return out
}
