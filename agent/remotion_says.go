package agent

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"rendermac/agentproto"
	"rendermac/media"
)

// remotionSays reads what Remotion writes to stdout and stderr, a line at a time.
type remotionSays struct {
	report *report
	dir    string // the run's folder, which is nobody's business
	feed   func() // keeps the run from being ended as stalled

	mu                       sync.Mutex // stdout and stderr come side by side
	total, rendered, encoded int64      // frames
	why, last                string
	diskFull                 bool
}

func newRemotionSays(r *run, feed func()) *remotionSays {
	return &remotionSays{report: r.report, dir: r.dir, feed: feed}
}

// frameCount is a line of progress: Rendered 8/60, time remaining: 1m 15s.
var frameCount = regexp.MustCompile(`^(Rendered|Encoded) ([0-9]{1,9})/([0-9]{1,9})(?:, time remaining: ([0-9hms ]+))?$`)

// How Remotion says why: " TypeError  x is not a function" of the page's errors,
// "TimeoutError: waiting for …" of its own. A composition's console is tagged.
var (
	errorBadge = regexp.MustCompile(`^ [A-Za-z]*Error  (?:Error: )?(.+)$`)
	plainError = regexp.MustCompile(`^[A-Za-z]*Error: .+$`)
)

var noSpace = regexp.MustCompile(`(?i)no space left on device|disk quota exceeded`)

func (s *remotionSays) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.TrimRight(strings.ReplaceAll(text, s.dir+"/", ""), " ")
	if m := frameCount.FindStringSubmatch(text); m != nil {
		frames, _ := strconv.ParseInt(m[2], 10, 64)
		total, _ := strconv.ParseInt(m[3], 10, 64)
		s.count(m[1] == "Rendered", frames, total, m[4])
		return
	}
	s.report.tell(text)
	if m := errorBadge.FindStringSubmatch(text); m != nil {
		s.why = m[1]
	} else if s.why == "" && plainError.MatchString(text) {
		s.why = text
	}
	if text != "" {
		s.last = text
	}
	s.diskFull = s.diskFull || noSpace.MatchString(text)
}

// count takes a line of progress. The first tells how many frames there are.
func (s *remotionSays) count(rendered bool, frames, total int64, remaining string) {
	if s.total == 0 && total > 0 {
		s.total = total
		s.tellServer()
	}
	so := &s.encoded
	if rendered {
		so = &s.rendered
	}
	if total != s.total || frames <= *so || frames > total {
		return
	}
	*so = frames
	s.feed()
	eta := math.NaN()
	if left, err := time.ParseDuration(strings.ReplaceAll(remaining, " ", "")); err == nil {
		eta = left.Seconds()
	}
	s.report.change(func() { s.report.fraction, s.report.eta = s.fraction(), eta })
}

// fraction weighs rendering against encoding, of which little is left afterwards
// where both go side by side.
func (s *remotionSays) fraction() float64 {
	return (0.9*float64(s.rendered) + 0.1*float64(s.encoded)) / float64(s.total)
}

// tellServer sends what the verifier will look for, and only the browser knew.
func (s *remotionSays) tellServer() {
	m := media.InputMedia{Format: "remotion", Streams: []media.InputStream{{Kind: "video", Frames: s.total}}}
	raw, err := json.Marshal(m)
	if err == nil { // numbers and strings: it cannot fail
		s.report.probed([]agentproto.RawJSON{raw})
	}
}

// reason is the line that says why.
func (s *remotionSays) reason() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return tidy(cmp.Or(s.why, s.last, "it did not say why"))
}
