package probe

import (
	"math"
	"slices"
	"strings"
)

// maxTracks is far beyond any real file.
const maxTracks = 256

func isTopLevel(typ string) bool {
	return slices.Contains([]string{"ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp", "moof", "sidx"}, typ)
}

// movie is the file as it is being read.
type movie struct {
	walker
	major      string
	brands     []string
	timescale  uint32
	tracks     []*track
	chapters   map[uint32]bool           // ids of tracks that hold another one's chapters
	defaults   map[uint32]sampleDefaults // of fragments, by track id
	runs       tableReader               // of one fragment after the other
	moov, mdat bool
	faststart  bool
	duration   float64 // in the movie's timescale, as mvhd has it
	oddity     string  // the first
	covered    uint64  // see covers; 0 where samples fill mdat without a gap
}

func readISO(f file) (*Media, error) {
	m := &movie{walker: walker{file: f}, chapters: map[uint32]bool{}, defaults: map[uint32]sampleDefaults{}}
	if err := m.each(0, f.size, m.topLevel); err != nil {
		return nil, err
	}
	switch {
	case slices.Contains([]string{"heic", "heix", "mif1", "avif", "msf1"}, m.major) && len(m.tracks) == 0:
		return nil, ErrUnknown
	case !m.moov:
		return nil, errf("the file has no index (moov): it was cut short, or its writing never ended")
	case len(m.tracks) == 0:
		return nil, errf("the file has no tracks")
	}
	return m.media()
}

func (m *movie) topLevel(b box) error {
	switch b.typ {
	case "ftyp":
		return m.fileType(b)
	case "mdat":
		m.mdat = true
		m.covers(b.end, b.off)
	case "moov":
		if m.moov {
			return errf("the file is damaged: it has two indexes (moov)")
		}
		m.moov, m.faststart = true, !m.mdat
		return m.children(b, m.inMoov)
	case "moof":
		return m.fragment(b)
	}
	return nil
}

func (m *movie) fileType(b box) error {
	data, err := m.bytes(b.off, min(b.size(), 256))
	if err != nil {
		return err
	}
	for i := 0; i+4 <= len(data); i += 4 {
		if brand := printable(string(data[i : i+4])); i == 0 {
			m.major = brand
		} else if i >= 8 && strings.Trim(brand, "0 ") != "" {
			m.brands = append(m.brands, brand)
		}
	}
	return nil
}

func (m *movie) inMoov(b box) error {
	switch b.typ {
	case "mvhd":
		return m.movieHeader(b)
	case "trak":
		if len(m.tracks) == maxTracks {
			return errf("the file has more than %d tracks", maxTracks)
		}
		return m.readTrack(b)
	case "mvex":
		return m.children(b, m.inMvex)
	case "cmov":
		return errf("the file's index is compressed (cmov), which is not read")
	default:
		m.known(b)
	}
	return nil
}

func (m *movie) media() (*Media, error) {
	out := &Media{Container: m.container(), Brands: append([]string{}, m.brands...), Faststart: m.faststart}
	if m.major != "" && !slices.Contains(out.Brands, m.major) {
		out.Brands = append([]string{m.major}, out.Brands...)
	}
	for _, t := range m.tracks {
		out.Streams = append(out.Streams, t.stream(m))
	}
	m.judge(out)
	out.Oddity = m.oddity
	out.fromZero()
	return out, nil
}

// fromZero counts from the first stream's start: a fragment of a broadcast
// begins hours into it.
func (m *Media) fromZero() {
	first := math.Inf(1)
	for _, s := range m.Streams {
		first = min(first, s.StartS)
	}
	for i := range m.Streams {
		s := &m.Streams[i]
		s.StartS -= first
		if s.Kind == "video" || s.Kind == "audio" {
			m.DurationS = max(m.DurationS, s.StartS+s.DurationS)
		}
	}
}

func (m *movie) container() string {
	switch m.major {
	case "", "qt  ":
		return "mov"
	case "M4A ", "M4B ", "M4P ":
		return "m4a"
	}
	return "mp4"
}
