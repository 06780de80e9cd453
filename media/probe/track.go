package probe

import "math"

// track is one trak box, and what fragments add to it.
type track struct {
	kind      string
	timescale uint32
	language  string
	header    trackHeader
	duration  float64 // as mdhd has it
	step      float64 // the longest of its samples, in ticks
	last      float64 // the length of the last one
	changes   int     // how often the length is another than before
	hasAspect bool    // the sample entry told the pixels' shape
	pixels    int     // the width without it
	entry     Stream  // what the sample entry says
	tables    tables
	edits     edits
	frames    int64   // samples, in moov and fragments
	ticks     float64 // how long they take to decode, in the track's timescale
	from, to  float64 // when the first is shown, and when the last ends
	begun     bool    // a fragment has been seen
	firstTick float64 // of the first fragment
}

func (m *movie) readTrack(b box) error {
	t := &track{kind: "data"}
	m.tracks = append(m.tracks, t)
	if err := m.children(b, func(b box) error { return m.inTrack(t, b) }); err != nil {
		return err
	}
	if t.timescale == 0 {
		return errf("the file is damaged: a track has no timescale (mdhd)")
	}
	return t.tables.check(m, t)
}

func (m *movie) inTrack(t *track, b box) error {
	switch b.typ {
	case "mdia", "minf", "stbl", "edts", "tref", "dinf":
		return m.children(b, func(b box) error { return m.inTrack(t, b) })
	case "tkhd":
		return m.readTrackHeader(t, b)
	case "mdhd":
		data, err := m.small(b)
		t.timescale, t.duration, t.language = clockOf(data)
		return err
	case "hdlr":
		return m.handler(t, b)
	case "elst":
		return m.editList(t, b)
	case "chap":
		return m.chapterTracks(b)
	case "stsd":
		return m.sampleDescriptions(t, b)
	case "dref":
		return m.dataReferences(b)
	}
	t.tables.note(b)
	m.known(b)
	return nil
}

// handler takes the media handler; QuickTime has a second one for data inside
// minf, which names no kind that is listed here and so changes nothing.
func (m *movie) handler(t *track, b box) error {
	data, err := m.bytes(b.off, min(b.size(), 64))
	if err != nil || len(data) < 12 {
		return err
	}
	kinds := map[string]string{
		"vide": "video", "soun": "audio", "tmcd": "timecode",
		"sbtl": "subtitle", "subt": "subtitle", "text": "subtitle", "clcp": "subtitle", "subp": "subtitle",
	}
	if kind := kinds[string(data[8:12])]; kind != "" {
		t.kind = kind
	}
	return nil
}

func (m *movie) chapterTracks(b box) error {
	data, err := m.bytes(b.off, min(b.size(), 4*maxTracks))
	for i := 0; i+4 <= len(data); i += 4 {
		m.chapters[be.Uint32(data[i:])] = true
	}
	return err
}

// add appends n samples of one length. A few writers store small negative
// lengths; as unsigned numbers they are absurd and count as none.
func (t *track) add(n int64, step uint32, shift float64) {
	length := float64(step)
	if step > math.MaxInt32 {
		length = 0
	}
	first := t.ticks + shift
	if t.frames == 0 || first < t.from {
		t.from = first
	}
	t.ticks += float64(n) * length
	if n > 0 {
		if length != t.last {
			t.changes++
		}
		t.step, t.last = max(t.step, length), length
	}
	t.to = max(t.to, t.ticks+shift)
	t.frames += n
}

// stream sums the track up. What is shown never exceeds what the samples last:
// an edit list is a claim, the samples are what is there.
func (t *track) stream(m *movie) Stream {
	s := t.entry
	s.Kind, s.Language, s.Frames = t.kind, t.language, t.frames
	scale := float64(t.timescale)
	length := max(0, t.to-t.from) / scale
	s.StartS, s.DurationS = t.from/scale, length
	if e := t.edits; m.timescale > 0 && (e.present || e.empty > 0) {
		s.StartS = e.empty/float64(m.timescale) + max(0, t.from-e.mediaTime)/scale
		s.DurationS = max(0, t.to-max(t.from, e.mediaTime)) / scale
		if shown := e.shown / float64(m.timescale); shown > 0 {
			s.DurationS = min(s.DurationS*float64(max(1, e.count)), shown)
		}
	}
	if t.begun {
		s.StartS += t.firstTick / scale
	}
	switch t.kind {
	case "video":
		t.picture(&s, length)
		s.AttachedPic = m.chapters[t.header.id]
	case "audio":
		if s.SampleRate == 0 {
			s.SampleRate = int(min(t.timescale, math.MaxInt32))
		}
	case "subtitle":
		if m.chapters[t.header.id] {
			s.Kind = "data"
		}
	}
	return s
}

func (t *track) picture(s *Stream, length float64) {
	s.Rotation = t.header.rotation
	t.shapeByHeader(s)
	if t.header.rotation%180 == 90 {
		s.Width, s.Height = s.Height, s.Width
	}
	if length > 0 {
		s.FPS = math.Round(float64(t.frames)/length*1000) / 1000
	}
}

// shapeByHeader squares the pixels where only the track's header says how wide
// the picture is shown: old QuickTime films, and ffmpeg reads them so too.
func (t *track) shapeByHeader(s *Stream) {
	if t.hasAspect || t.header.shape[0] == 0 || t.header.shape[1] == 0 {
		return
	}
	width := math.Round(float64(s.Height) * float64(t.header.shape[0]) / float64(t.header.shape[1]))
	if width >= 1 && width < 1<<20 {
		s.Width = int(width)
	}
}
