package probe

import (
	"fmt"
	"math"
	"slices"
)

// odd notes the first oddity: what players get along with in most files, and
// what no writer of ours leaves in a result. Much of it is a bit that was
// flipped: the index says most things more than once.
func (m *movie) odd(format string, args ...any) {
	if m.oddity == "" {
		m.oddity = fmt.Sprintf(format, args...)
	}
}

// ordinary are the boxes that belong into an index.
var ordinary = []string{
	"mvhd", "trak", "udta", "meta", "iods", "mvex", "free", "skip", "wide",
	"tkhd", "edts", "mdia", "tref", "tapt", "elst", "chap", "tmcd", "load",
	"mdhd", "hdlr", "minf", "elng", "vmhd", "smhd", "nmhd", "sthd", "gmhd", "dinf", "dref",
	"stbl", "stsd", "stts", "ctts", "cslg", "stss", "stps", "stsc", "stsz", "stz2", "stco", "co64", "sbgp", "sgpd", "sdtp", "saiz", "saio", "subs",
}

func (m *movie) known(b box) {
	if !slices.Contains(ordinary, b.typ) {
		m.odd("its index has a box that is of no known kind (%s)", printable(b.typ))
	}
}

// covers sums up the ends of stretches of the file, so that all of them cancel
// out where chunks, in whatever order, lie in mdat without gap or overlap: each
// begins where another ends. It needs no memory, however many there are.
func (m *movie) covers(from, to int64) {
	m.covered += mixed(uint64(to)) - mixed(uint64(from))
}

// mixed is the finalizer of splitmix64: sums of it do not cancel out by chance.
func mixed(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// judge compares what the index says twice.
func (m *movie) judge(out *Media) {
	if m.covered != 0 {
		m.odd("its samples leave gaps in the media (mdat), or overlap")
	}
	longest, delay := float64(0), float64(0)
	for i, t := range m.tracks {
		longest, delay = max(longest, t.header.duration), max(delay, t.edits.empty)
		m.judgeTrack(t, out.Streams[i])
	}
	if m.duration < longest-2 || m.duration > longest+delay+2 {
		m.odd("its header (mvhd) gives it another length than its tracks have")
	}
	for _, kind := range []string{"video", "audio"} {
		ofKind := func(t *track) bool { return t.kind == kind }
		if slices.ContainsFunc(m.tracks, ofKind) && !slices.ContainsFunc(m.tracks, func(t *track) bool { return ofKind(t) && t.header.enabled }) {
			m.odd("its %s is switched off", kind)
		}
	}
}

func (m *movie) judgeTrack(t *track, s Stream) {
	if t.kind == "data" || t.kind == "subtitle" || t.frames == 0 {
		return
	}
	if math.Abs(t.duration-t.ticks) > t.slack() {
		m.odd("its %s has a header (mdhd) of another length than its samples", t.kind)
	}
	if t.kind == "timecode" {
		return
	}
	h, e := t.header, t.edits
	switch {
	case math.Abs(t.to-t.from-t.ticks) > max(2*t.step, float64(t.timescale)/4):
		m.odd("its %s is shown over another time than its samples last", t.kind)
	case e.fast:
		m.odd("its %s is shown at another speed (elst)", t.kind)
	case m.timescale > 0 && e.present && math.Abs(h.duration-e.shown) > 2 && math.Abs(h.duration-e.shown-e.empty) > 2:
		m.odd("its %s has a header (tkhd) of another length than its edit list", t.kind)
	case m.timescale > 0 && e.count == 1 && math.Abs((e.mediaTime-t.to)/float64(t.timescale)+e.shown/float64(m.timescale)) > t.step/float64(t.timescale)+2/float64(m.timescale):
		m.odd("its %s is cut elsewhere than where it ends (elst)", t.kind)
	case m.timescale > 0 && !e.present && math.Abs(h.duration/float64(m.timescale)-s.DurationS) > 0.25:
		m.odd("its %s has a header (tkhd) of another length than its samples", t.kind)
	case t.entry.flaw != "":
		m.odd("%s", t.entry.flaw)
	case t.entry.coded[0] != 0 && t.entry.coded != [2]int64{int64(t.pixels), int64(t.entry.Height)}:
		m.odd("its picture has another size in its codec's parameters than in its description (stsd)")
	case h.skewed:
		m.odd("its %s is not shown plainly: the matrix in its header does more than turn it", t.kind)
	case s.Codec == "aac" && s.Profile == "":
		m.odd("its sound's parameters (esds) make no sense")
	case (s.Profile == "LC" || s.Codec == "pcm" || s.Codec == "alac") && s.SampleRate != int(t.timescale):
		m.odd("its sound has another rate in its description (stsd) than in its header (mdhd)")
	case t.kind == "audio" && h.volume != 1<<8:
		m.odd("its sound has another volume than the whole")
	case t.kind == "video" && !t.shapely():
		m.odd("its picture has another size in its header (tkhd) than in its description (stsd)")
	}
}

// slack is how much header and samples may differ in length: not at all, but
// for a picture of variable rate. There the last one shown is not the last one
// stored, and the header goes by what is shown.
func (t *track) slack() float64 {
	if t.kind == "video" && t.changes > 1 {
		return 2 * t.step
	}
	return 0
}

// shapely tells whether tkhd shows the picture as large as it is, in pixels or
// on screen.
func (t *track) shapely() bool {
	near := func(fixed uint32, pixels int) bool { return math.Abs(float64(fixed)/(1<<16)-float64(pixels)) < 1 }
	return near(t.header.shape[1], t.entry.Height) && (near(t.header.shape[0], t.entry.Width) || near(t.header.shape[0], t.pixels))
}
