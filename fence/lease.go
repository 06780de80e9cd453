package fence

import (
	"slices"
	"time"
)

// Needs is what a job asks of a device; Offers is what a device has.
type (
	Needs struct {
		Service     string   `json:"service"`
		Features    []string `json:"features"`
		Tags        []string `json:"tags"`
		MinMemoryGB float64  `json:"min_memory_gb"`
	}
	Offers struct {
		Services, Features, Tags []string
		MemoryBytes              int64
	}
)

// Fits says whether a device can run what a job needs (F3).
func Fits(n Needs, o Offers) bool {
	return slices.Contains(o.Services, n.Service) &&
		subset(n.Features, o.Features) && subset(n.Tags, o.Tags) &&
		float64(o.MemoryBytes) >= n.MinMemoryGB*(1<<30)
}

func subset(want, have []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(have, w) })
}

// Sooner is the earlier of two deadlines; zero is never.
func Sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ClockJump is how far the wall clock has moved beside the monotonic one since
// the last look. Up to two seconds is drift, not a jump (F15).
func ClockJump(wall, mono time.Duration) time.Duration {
	jump := wall - mono
	if jump.Abs() <= 2*time.Second {
		return 0
	}
	return jump
}
