package web

import (
	"strconv"
	"time"
)

// scale turns moments into places: piecewise, for waits may be cut.
type scale struct {
	at    []time.Time
	shown []float64 // seconds from the beginning, at each of them
}

// add goes on to a moment, to scale.
func (s *scale) add(to time.Time) { s.grow(to, s.span(to)) }

// wait goes on to a moment by no more than longest seconds, and tells whether it
// was longer.
func (s *scale) wait(to time.Time, longest float64) (cut bool) {
	span := s.span(to)
	s.grow(to, min(span, longest))
	return span > longest
}

func (s *scale) span(to time.Time) float64 {
	return max(to.Sub(s.at[len(s.at)-1]).Seconds(), 0)
}

func (s *scale) grow(to time.Time, by float64) {
	s.at, s.shown = append(s.at, to), append(s.shown, s.shown[len(s.shown)-1]+by)
}

// place is where a moment stands, in percent of the width.
func (s *scale) place(t time.Time) float64 {
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

func percentage(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) + "%" }
