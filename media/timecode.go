package media

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var timecodeText = regexp.MustCompile(`^([0-9]{2}):([0-9]{2}):([0-9]{2})([:;.])([0-9]{2,3})$`)

// startTimecode is the input's timecode moved by start_s; where that cannot be
// counted it stays, and it is "" where the input has none.
func (p *transcodeParams) startTimecode(m InputMedia, fps float64) string {
	if moved := shiftTimecode(m.Timecode, p.StartS, fps); moved != "" {
		return moved
	}
	return m.Timecode
}

// shiftTimecode counts in frame numbers. Drop-frame (;) leaves out numbers 0
// and 1 of each minute but every tenth at 29.97, twice as many at 59.94.
func shiftTimecode(tc string, byS, fps float64) string {
	f := timecodeText.FindStringSubmatch(tc)
	base := int(math.Round(fps))
	if f == nil || base <= 0 {
		return ""
	}
	var n [4]int
	for i, group := range []int{1, 2, 3, 5} {
		n[i], _ = strconv.Atoi(f[group])
	}
	drop := 0
	if f[4] != ":" {
		drop = 2 * (base / 30)
	}
	minutes := n[0]*60 + n[1]
	frames := (minutes*60+n[2])*base + n[3] - drop*(minutes-minutes/10)
	frames += int(math.Round(byS * fps))
	return frameTimecode(frames, base, drop, f[4])
}

func frameTimecode(frames, base, drop int, sep string) string {
	tenMinutes := 600*base - 9*drop
	frames %= 144 * tenMinutes // a day
	tens, rest := frames/tenMinutes, frames%tenMinutes
	frames += 9 * drop * tens
	if drop > 0 && rest >= drop {
		frames += drop * ((rest - drop) / (60*base - drop))
	}
	sec := frames / base
	return fmt.Sprintf("%02d:%02d:%02d%s%02d", sec/3600%24, sec/60%60, sec%60, sep, frames%base)
}

// burntTimecode is what the first frame that reaches the filters shows. Counting
// starts at zero where the input has no timecode; where the cut comes after the
// filters they see the input's own first frame.
func (p *transcodeParams) burntTimecode(m InputMedia, fps float64) string {
	if m.Timecode == "" {
		m.Timecode = "00:00:00:00"
	}
	if m.unindexed() {
		return m.Timecode
	}
	return p.startTimecode(m, fps)
}

func timecodeFilter(start string, fps float64, height int) string {
	return fmt.Sprintf("drawtext=timecode='%s':rate=%s:fontsize=%d:fontcolor=white:box=1:boxcolor=black@0.6:boxborderw=%d:x=(w-tw)/2:y=h-th*2",
		strings.NewReplacer(":", `\:`, ";", `\;`).Replace(start), plain(math.Round(fps*1000)/1000), max(8, height/18), max(2, height/120))
}
