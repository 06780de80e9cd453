package media

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"rendermac/media/whole"
)

// Examine looks for cuts that ffmpeg passes over in silence; it comes after the
// probe. What it finds is said where a run is planned.
func (m *InputMedia) Examine(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the input: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open the input: %w", err)
	}
	if err := whole.Check(f, info.Size(), m.Demuxer()); err != nil && m.cut == "" {
		m.cut = err.Error()
	}
	// A transport packet has 188 bytes; 192 in m2ts, 204 with parity.
	if n := info.Size(); m.Demuxer() == "mpegts" && n%188 != 0 && n%192 != 0 && n%204 != 0 {
		m.cut = "it breaks off in the middle of a transport packet"
	}
	return nil
}

// brokenPromise holds what a container says of its length against the last
// packet of any stream, of subtitles too: one of them may go on long after the
// film. Other containers than these say it of each stream, or guess it.
func (m *InputMedia) brokenPromise(spans map[int]*span) string {
	if !slices.Contains([]string{"matroska", "flv"}, m.Demuxer()) || len(spans) == 0 {
		return ""
	}
	var last, slack float64
	for _, s := range spans {
		last = max(last, s.last)
	}
	for _, s := range m.Streams {
		slack = max(slack, 0.5, slackS(s.FPS))
	}
	if m.DurationS <= last+slack {
		return ""
	}
	return fmt.Sprintf("it says that it lasts %.2f s and ends after %.2f s", m.DurationS, last)
}

// cutShort is the warnings of a job that accepts damage, else an error.
func cutShort(resolved json.RawMessage, in []Input) (warnings []string, err error) {
	for n, i := range in {
		which := "input"
		if len(in) > 1 {
			which = fmt.Sprintf("input %d", n+1)
		}
		switch {
		case i.Media.cut == "":
		case !AcceptsDamage(resolved):
			return nil, fmt.Errorf("the %s is cut short or damaged: %s%s", which, i.Media.cut, OrAccept)
		default:
			warnings = append(warnings, "damaged "+which+" accepted: "+i.Media.cut)
		}
	}
	return warnings, nil
}

// OrAccept is what to do about damage.
const OrAccept = "; upload it again, or submit with damaged_input=accept to keep what can be read"

// AcceptsDamage tells whether a job wants what can be read of a damaged input.
func AcceptsDamage(resolved json.RawMessage) bool {
	var p struct {
		DamagedInput string `json:"damaged_input"`
	}
	_ = json.Unmarshal(resolved, &p)
	return p.DamagedInput == "accept"
}

// warning puts warnings before the run's own, whichever pass is its last.
func (p Plan) warning(list []string) Plan {
	if len(list) == 0 {
		return p
	}
	p.Warnings = append(slices.Clone(list), p.Warnings...)
	if next := p.Next; next != nil {
		p.Next = func(said []string) (Plan, error) {
			p, err := next(said)
			return p.warning(list), err
		}
	}
	return p
}
