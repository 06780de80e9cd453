package web

import (
	"fmt"
	"math"
)

// State is how a job, an attempt or a device stands: a colour, a word, a shape.
type State struct{ Word, Kind string }

// kinds are the colours; a name that is none of them has one of them.
var kinds = map[string]string{
	"leased": "active", "downloading": "active", "running": "active", "uploading": "active", "committing": "verifying",
	"online": "succeeded", "offline": "lost", "draining": "cancelling", "revoked": "failed",
	"delivered": "succeeded", "pending": "queued",
	"waiting": "queued", "reading": "verifying", "ready": "succeeded", "unread": "queued",
}

func stateOf(name string) State {
	kind := kinds[name]
	if kind == "" {
		kind = name
	}
	return State{Word: name, Kind: kind}
}

// Progress is how far a run is. Its bar goes by what the run says next.
type Progress struct {
	AttemptID string
	Phase     string  // downloading, running, uploading, verifying
	Fraction  float64 // of the phase, 0 to 1
	Unknown   bool    // whether nobody knows the fraction
	FPS       float64 // 0: not said
	Speed     float64 // of real time; 0: not said
	LeftS     float64 // seconds; 0: not said
}

// phases stand on the bar in this order, each as wide as it usually takes.
var phases = []struct {
	name     string
	from, to float64
}{{"downloading", 0, 10}, {"running", 10, 85}, {"uploading", 85, 95}, {"verifying", 95, 100}}

// Pace says how fast a run is, as live.js does from then on.
func (p Progress) Pace() string {
	switch {
	case p.FPS > 0:
		return fmt.Sprintf("%.0f fps", p.FPS)
	case p.Speed > 0:
		return fmt.Sprintf("%.1f×", p.Speed)
	}
	return ""
}

// Left says how long a run still takes, as live.js does from then on.
func (p Progress) Left() string {
	switch {
	case p.LeftS <= 0:
		return ""
	case p.LeftS < 60:
		return fmt.Sprintf("%.0f s left", math.Ceil(p.LeftS))
	}
	return fmt.Sprintf("%.0f min left", math.Ceil(p.LeftS/60))
}

type bar struct {
	Progress
	Done  int // of a hundred
	Ticks []float64
}

func barOf(p Progress) bar {
	b := bar{Progress: p}
	for _, phase := range phases {
		if phase.name == p.Phase {
			b.Done = int(math.Round(phase.from + (phase.to-phase.from)*min(max(p.Fraction, 0), 1))) // as live.js does
		}
		if phase.from > 0 {
			b.Ticks = append(b.Ticks, phase.from)
		}
	}
	return b
}
