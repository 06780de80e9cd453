package media

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// measure is the pass that only listens. loudnorm says what it heard at the
// level info, at which ffmpeg tells the names in the file as well: each line
// bears its level, so that nothing in those passes for a complaint.
func (r *recording) measure() Plan {
	filters := append(r.shaped(), "loudnorm=print_format=json")
	args := append(append(quietly("level+info"), "-nostats"), r.reads(filters)...)
	return Plan{
		Args: append(args, "-f", "null", "-"), DurationS: r.length(), ExpectBytes: r.bytes, Upto: 0.5,
		Next: r.normalized,
	}
}

// normalized is the pass that writes at the loudness that was asked for.
func (r *recording) normalized(said []string) (Plan, error) {
	heard, err := parseLoudness(said)
	if err != nil {
		return Plan{}, err
	}
	if heard.silent() {
		plan := r.write(nil)
		plan.Warnings = []string{"the loudness was left as it is: the sound is silent, or too short to be measured"}
		return plan, nil
	}
	return r.write(r.gain(heard)), nil
}

// r128 is what loudnorm heard: LUFS, dBTP and LU.
type r128 struct{ integrated, peak, lra, threshold float64 }

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
		I         string `json:"input_i"`
		TP        string `json:"input_tp"`
		LRA       string `json:"input_lra"`
		Threshold string `json:"input_thresh"`
	}
	if json.Unmarshal([]byte(strings.Join(said[from:to+1], "\n")), &v) != nil {
		return r128{}, bad
	}
	var l r128
	for _, value := range []struct {
		text string
		into *float64
	}{{v.I, &l.integrated}, {v.TP, &l.peak}, {v.LRA, &l.lra}, {v.Threshold, &l.threshold}} {
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

// gain is linear where the peaks allow it.
func (r *recording) gain(heard r128) []string {
	by := r.p.LoudnessLUFS - heard.integrated
	if heard.peak+by <= r.ceiling() {
		return []string{"volume=" + micros(by) + "dB:precision=double"}
	}
	return []string{fmt.Sprintf("loudnorm=I=%s", plain(r.p.LoudnessLUFS))}
}
