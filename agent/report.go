package agent

import (
	"math"
	"sync"

	"rendermac/agentproto"
)

// report is what a run says of itself in progress.
type report struct {
	mu       sync.Mutex
	phase    string
	fraction float64 // NaN while unknown, as are the three below
	fps      float64
	speed    float64
	eta      float64
	media    []agentproto.RawJSON // until the server has it
	lines    []string             // for the job's log, until they are sent
	news     chan struct{}        // holds one token when something has changed
	urgent   chan struct{}        // the same, for what should not wait for its turn
}

func newReport() *report {
	r := &report{news: make(chan struct{}, 1), urgent: make(chan struct{}, 1)}
	r.enter("downloading")
	return r
}

func (r *report) change(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
	nudge(r.news)
}

func nudge(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// enter begins a phase, of which nothing is known yet.
func (r *report) enter(phase string) {
	r.change(func() {
		unknown := math.NaN()
		r.phase, r.fraction, r.fps, r.speed, r.eta = phase, unknown, unknown, unknown, unknown
	})
	nudge(r.urgent)
}

// probed is what ffprobe said of the inputs, which goes with the next progress.
func (r *report) probed(media []agentproto.RawJSON) {
	r.change(func() { r.media = media })
	nudge(r.urgent)
}

// done is how much of the phase is behind the run.
func (r *report) done(part, whole float64) {
	r.change(func() { r.fraction = part / whole })
}

// The lines that wait for the next beat, the newest ones: fewer than the 64 KiB
// that the server takes in a second.
const (
	keptLines = 100
	lineBytes = 500
)

// tell adds a line to what goes to the job's log with the next beat.
func (r *report) tell(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, clip(line, lineBytes))
	r.lines = r.lines[max(0, len(r.lines)-keptLines):]
}

func (r *report) takeLines() (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines, r.lines = r.lines, nil
	return lines
}

func (r *report) waiting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.media != nil || len(r.lines) > 0
}

func (r *report) mediaKnown() { r.change(func() { r.media = nil }) }

// message is the progress to send now. Numbers are finite and fractions within
// 0..1; what is unknown is null or absent.
func (r *report) message(ids agentproto.IDs) *agentproto.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &agentproto.Progress{
		IDs: ids, Phase: r.phase, Fraction: finite(r.fraction),
		FPS: finite(r.fps), Speed: finite(r.speed), ETASeconds: finite(r.eta), InputMedia: r.media,
	}
	if p.Fraction != nil {
		*p.Fraction = min(*p.Fraction, 1)
	}
	return p
}

// finite is x where it is a number that can be said, else nil.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return nil
	}
	return &x
}
