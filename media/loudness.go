package media

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// level is what is done to the sound, for the n-th time: a gain and, where the
// peaks are in the way of it, a limiter that holds them under a ceiling (dBTP).
type level struct {
	n             int
	gain, ceiling float64
	limited       bool
	trim          float64  // behind the limiter, where it is exact
	was           *heardAt // with the gain before
}

type heardAt struct{ gain, lufs float64 }

// listen is a pass that only measures. loudnorm says what it heard at the level
// info, at which ffmpeg tells the names in the file as well: each line bears its
// level, so that none of these passes for a complaint.
func listen(read []string, lengthS float64, next func(r128) (Plan, error)) Plan {
	args := append(append(quietly("level+info"), "-nostats"), read...)
	return Plan{
		Args: append(args, "-f", "null", "-"), DurationS: lengthS,
		Next: func(said []string) (Plan, error) {
			heard, err := parseLoudness(said)
			if err != nil {
				return Plan{}, err
			}
			return next(heard)
		},
	}
}

// measure is the first pass. The next one takes a plain gain where the peaks
// allow it.
func (r *recording) measure() Plan {
	plan := listen(r.reads(append(r.shaped(), "loudnorm=print_format=json")), r.length(), func(heard r128) (Plan, error) {
		if heard.silent() {
			plan := r.write(nil)
			plan.Warnings = append(plan.Warnings, "the loudness was left as it is: the sound is silent, or too short to be measured")
			return plan, nil
		}
		gain := r.p.LoudnessLUFS - heard.integrated
		l := level{n: 1, gain: gain, ceiling: r.ceiling(), was: &heardAt{0, heard.integrated}}
		l.limited = heard.peak+gain > l.ceiling
		return r.at(l), nil
	})
	plan.ExpectBytes, plan.Upto = r.bytes, 0.3
	return plan
}

// at writes the sound at a level and listens to the result: limiters cost
// loudness and encoders shift it, nobody knows how much before.
func (r *recording) at(l level) Plan {
	plan := r.write(l.filters())
	plan.Upto = 1 - 0.7*math.Pow(0.4, float64(2*l.n-1))
	plan.Next = func([]string) (Plan, error) {
		demuxer := map[string]string{"pcm": "wav"}[r.p.Codec]
		read := append(guarded(r.env.OutPath, demuxer), "-map", "0:a", "-af", "loudnorm=print_format=json")
		check := listen(read, r.length(), func(heard r128) (Plan, error) { return r.judge(l, heard), nil })
		check.Upto = 1 - 0.7*math.Pow(0.4, float64(2*l.n))
		return check, nil
	}
	return plan
}

// How often a level is tried, what is near enough (LU), and the highest peak.
const (
	mostTries  = 5
	nearEnough = 0.25
	highest    = -1.05
)

// judge ends the run where the result is right, or as right as it gets.
func (r *recording) judge(l level, heard r128) Plan {
	short, over := r.p.LoudnessLUFS-heard.integrated, heard.peak-highest
	switch {
	case heard.silent(), math.Abs(short) <= nearEnough && over <= 0:
		return Plan{Streams: r.streams, Warnings: r.fewer}
	case l.n == mostTries:
		return Plan{Streams: r.streams, Warnings: append(r.shortfall(heard), r.fewer...)}
	}
	next := level{n: l.n + 1, gain: l.gain, ceiling: l.ceiling, limited: l.limited, trim: l.trim, was: &heardAt{l.gain, heard.integrated}}
	if l.limited && short < -nearEnough && over <= -short { // turned down, the peaks are under the ceiling as well
		next.trim += short
		return r.at(next)
	}
	if over > 0 {
		next.limited = true
		next.ceiling -= max(0, over) + 0.1
	}
	slope := (heard.integrated - l.was.lufs) / (l.gain - l.was.gain)
	if math.Abs(short) > nearEnough {
		if !(slope >= 0.2 && slope <= 1) {
			slope = 1
		}
		next.gain = min(next.gain+short/slope, 90)
	}
	return r.at(next)
}

func (r *recording) shortfall(heard r128) []string {
	if math.Abs(r.p.LoudnessLUFS-heard.integrated) <= 0.5 && heard.peak <= -1 {
		return nil
	}
	return []string{fmt.Sprintf("the sound has %.1f LUFS and peaks of %.1f dBTP: it could not be brought to %s LUFS", heard.integrated, heard.peak, plain(r.p.LoudnessLUFS))}
}

// filters are a plain gain, or one into a limiter that works on four times the
// usual rate, where peaks between the samples are seen. Its short attack is also
// how late it makes the sound.
func (l level) filters() []string {
	gain := "volume=" + micros(l.gain) + "dB:precision=double"
	if !l.limited {
		return []string{gain}
	}
	limiter := "alimiter=level=false:attack=2:release=80:limit=" + micros(max(0.0625, math.Pow(10, l.ceiling/20)))
	return []string{gain, "aresample=192000", limiter, "volume=" + micros(l.trim) + "dB:precision=double"}
}

// r128 is what loudnorm heard: LUFS and dBTP.
type r128 struct{ integrated, peak float64 }

func (l r128) silent() bool { return l.integrated <= -70 }

// parseLoudness reads the block that loudnorm writes last of all: a line "{",
// its values as text, a line "}". Names in the file cannot look like that: ffmpeg
// indents them.
func parseLoudness(said []string) (r128, error) {
	bad := errors.New("ffmpeg did not say how loud the input is")
	from, to := -1, -1
	for i, line := range said {
		switch line {
		case "{":
			from, to = i, -1
		case "}":
			to = i
		}
	}
	if from < 0 || to < from {
		return r128{}, bad
	}
	var v struct {
		I  string `json:"input_i"`
		TP string `json:"input_tp"`
	}
	if json.Unmarshal([]byte(strings.Join(said[from:to+1], "\n")), &v) != nil {
		return r128{}, bad
	}
	var l r128
	for _, value := range []struct {
		text string
		into *float64
	}{{v.I, &l.integrated}, {v.TP, &l.peak}} {
		n, err := strconv.ParseFloat(value.text, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 1) || n > 200 {
			return r128{}, bad
		}
		*value.into = n
	}
	return l, nil
}

// ceiling is the highest true peak before the encoder; aac adds some of its own.
func (r *recording) ceiling() float64 {
	if r.p.Codec == "aac" {
		return -2
	}
	return -1.5
}
