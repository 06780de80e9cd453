package media

import (
	"bufio"
	"io"
	"slices"
	"strconv"
	"strings"
)

// PacketArgs is the argv after "ffprobe" of a demux pass; MeasurePackets reads
// its output. It is needed where NeedsPackets says so.
func PacketArgs(path, demuxer string) []string {
	return append([]string{
		"-hide_banner", "-loglevel", "error", "-show_packets",
		"-show_entries", "packet=stream_index,pts_time,duration_time", "-of", "csv=p=0",
	}, guarded(path, demuxer)...)
}

// guessing lists the demuxers whose durations are estimates, from the bit rate
// or from the last time stamps of any stream.
var guessing = []string{"mp3", "aac", "ac3", "eac3", "dts", "dtshd", "truehd", "amr", "mpeg", "mpegts", "mpegvideo", "h264", "hevc", "m4v", "vc1", "obu"}

// NeedsPackets says that a stream carries no reliable duration of its own. One
// with a variable rate does not: mp4 sums up decoding times, which end earlier
// than the picture where the last frames are reordered and long.
func (m *InputMedia) NeedsPackets() bool {
	if slices.Contains(guessing, m.Demuxer()) {
		return true
	}
	for _, s := range m.Streams {
		if (s.Kind == "video" || s.Kind == "audio") && !s.AttachedPic && (s.DurationS <= 0 || s.Variable) {
			return true
		}
	}
	return false
}

type span struct{ first, last, sum float64 }

// MeasurePackets takes each stream's start and length from its packets.
func (m *InputMedia) MeasurePackets(csv io.Reader) error {
	spans := map[int]*span{}
	lines := bufio.NewScanner(csv)
	for lines.Scan() {
		f := strings.Split(strings.TrimSpace(lines.Text()), ",")
		index, err := strconv.Atoi(f[0])
		if err != nil || len(f) < 3 {
			continue
		}
		s := spans[index]
		if s == nil {
			s = &span{first: seconds(f[1]), last: seconds(f[1])}
			spans[index] = s
		}
		s.add(f[1], seconds(f[2]))
	}
	m.takeSpans(spans)
	return lines.Err()
}

func (s *span) add(pts string, duration float64) {
	s.sum += duration
	if pts == "N/A" || pts == "" {
		return
	}
	s.first = min(s.first, seconds(pts))
	s.last = max(s.last, seconds(pts)+duration)
}

// takeSpans prefers time stamps; a raw stream has none, and its packets'
// lengths add up instead.
func (m *InputMedia) takeSpans(spans map[int]*span) {
	m.cut = m.brokenPromise(spans)
	m.DurationS = 0
	for i := range m.Streams {
		s := spans[m.Streams[i].Index]
		if s == nil {
			continue
		}
		m.Streams[i].measured(s, m.StartS)
		m.DurationS = max(m.DurationS, m.Streams[i].StartS+m.Streams[i].DurationS)
	}
}

// measured takes the span for the stream's length, unless the file's own tag
// says that it once was longer: then that is what it promises.
func (r *InputStream) measured(s *span, fileStart float64) {
	promised := r.taggedEndS - s.first
	r.StartS = max(0, s.first-fileStart)
	r.DurationS = s.last - s.first
	if s.last <= s.first {
		r.DurationS = s.sum
	}
	if promised > r.DurationS+slackS(r.FPS) {
		r.DurationS = promised
	}
}
