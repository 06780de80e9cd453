package agent

import (
	"math"
	"strconv"
	"strings"

	"rendermac/media"
)

// progress reads what ffmpeg's -progress writes: a line a value, and the line
// "progress=…" at the end of each block.
type progress struct {
	report     *report
	durationS  float64 // of the output; 0 is unknown
	done, upto float64 // of the whole run: before this pass, and after it
	least      float64 // how far a pass had come in whose place this one runs
	feed       func()  // keeps the run from being ended as stalled

	block   map[string]string
	outTime float64 // seconds, as far as it has come
	bytes   float64
}

func newProgress(r *report, plan media.Plan, done float64, feed func()) *progress {
	p := &progress{report: r, durationS: plan.DurationS, done: done, upto: plan.Upto, feed: feed, block: map[string]string{}}
	if plan.Next == nil {
		p.upto = 1
	}
	r.change(func() {
		if p.least = max(0, r.fraction); math.IsNaN(p.least) {
			p.least = 0
		}
		if done > p.least {
			r.fraction = done
		}
	})
	return p
}

func (p *progress) line(text string) {
	key, value, _ := strings.Cut(text, "=")
	p.block[key] = strings.TrimSpace(value)
	if key == "progress" {
		p.take()
		clear(p.block)
	}
}

// take reports a block. out_time_us is read, for out_time_ms is in microseconds
// as well.
func (p *progress) take() {
	out, bytes := p.number("out_time_us")/1e6, p.number("total_size")
	p.advance(&p.outTime, out)
	p.advance(&p.bytes, bytes)
	if math.IsNaN(out) {
		return
	}
	fps, speed := p.number("fps"), p.number("speed")
	p.report.change(func() {
		r := p.report
		r.fps, r.speed, r.eta = fps, speed, math.NaN()
		if p.durationS > 0 {
			far := p.done + (p.upto-p.done)*min(1, p.outTime/p.durationS)
			r.fraction = max(far, p.least)
			r.eta = max(0, p.durationS-out) / speed * (1 - far) / (p.upto - far)
		}
	})
}

// advance notes how far a measure has come; NaN, which is N/A, is never further.
func (p *progress) advance(far *float64, now float64) {
	if now > *far {
		*far = now
		p.feed()
	}
}

// number is a value of the block, NaN where there is none.
func (p *progress) number(key string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSuffix(p.block[key], "x"), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}
