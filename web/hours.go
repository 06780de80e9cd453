package web

import (
	"fmt"
	"time"
)

// HourCount is how many jobs ended in an hour.
type HourCount struct {
	From              time.Time
	Succeeded, Failed int
}

// hourPlot is jobs by hour: what succeeded stands on the line, what failed hangs
// from it, both to one scale.
type hourPlot struct {
	Line              int // its height, of plotHeight
	Bars              []hourBar
	Succeeded, Failed int // in all
	Most              int // in one hour
}

type hourBar struct {
	HourCount
	X         int
	Y, Height int // of those that succeeded
	Depth     int // of those that failed
	Ago       string
}

const (
	plotHeight = 80
	plotHour   = 10 // how wide an hour is
)

// Plot lays the hours out.
func (o Overview) Plot() hourPlot {
	var p hourPlot
	up, down := 0, 0
	for _, h := range o.Hours {
		p.Succeeded, p.Failed = p.Succeeded+h.Succeeded, p.Failed+h.Failed
		up, down, p.Most = max(up, h.Succeeded), max(down, h.Failed), max(p.Most, h.Succeeded+h.Failed)
	}
	high := func(n int) int { // what is there is seen
		if n == 0 {
			return 0
		}
		return max(2, n*(plotHeight-2)/max(1, up+down))
	}
	p.Line = plotHeight - 1 - high(down)
	for i, h := range o.Hours {
		bar := hourBar{HourCount: h, X: i * plotHour, Height: min(high(h.Succeeded), p.Line), Depth: high(h.Failed), Ago: hoursAgo(len(o.Hours) - 1 - i)}
		bar.Y = p.Line - bar.Height
		p.Bars = append(p.Bars, bar)
	}
	return p
}

func hoursAgo(n int) string {
	switch n {
	case 0:
		return "this hour"
	case 1:
		return "an hour ago"
	}
	return fmt.Sprintf("%d hours ago", n)
}
