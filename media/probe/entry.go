package probe

import (
	"math"
	"slices"
)

// codecs names the fourccs of sample entries as ffprobe names the codecs.
var codecs = map[string]string{
	"avc1": "h264", "avc2": "h264", "avc3": "h264", "avc4": "h264",
	"hvc1": "hevc", "hev1": "hevc", "dvh1": "hevc", "dvhe": "hevc",
	"av01": "av1", "vp08": "vp8", "vp09": "vp9", "mp4v": "mpeg4", "s263": "h263", "mjpa": "mjpeg", "jpeg": "mjpeg", "png ": "png",
	"apco": "prores", "apcs": "prores", "apcn": "prores", "apch": "prores", "ap4h": "prores", "ap4x": "prores",
	"AVdn": "dnxhd", "AVdh": "dnxhd", "mp4a": "aac", "alac": "alac", "ac-3": "ac3", "ec-3": "eac3", "Opus": "opus", "fLaC": "flac",
	".mp3": "mp3", "sowt": "pcm", "twos": "pcm", "in24": "pcm", "in32": "pcm", "fl32": "pcm", "fl64": "pcm", "lpcm": "pcm",
	"raw ": "pcm", "ipcm": "pcm", "fpcm": "pcm", "NONE": "pcm", "tx3g": "mov_text", "text": "mov_text", "tmcd": "tmcd",
}

var proresProfiles = map[string]string{
	"apco": "Proxy", "apcs": "LT", "apcn": "Standard", "apch": "HQ", "ap4h": "4444", "ap4x": "XQ",
}

// sampleDescriptions reads the first entry of stsd; a track has more than one
// only where its format changes on the way.
func (m *movie) sampleDescriptions(t *track, b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	if len(data) < 16 || be.Uint32(data[4:]) == 0 {
		return errf("the file is damaged: a track does not say what it holds (stsd)")
	}
	t.tables.entries = be.Uint32(data[4:])
	entry, err := m.next(b.off+8, b.end)
	if err != nil {
		return err
	}
	s := &t.entry
	s.Tag = printable(entry.typ)
	if s.Codec = codecs[entry.typ]; s.Codec == "" {
		s.Codec = s.Tag
		if t.kind != "data" && t.kind != "subtitle" {
			m.odd("its %s is coded in a way that is not known (%s)", t.kind, s.Tag)
		}
	}
	f := &fields{data: data[entry.off-b.off : entry.end-b.off]}
	f.take(min(8, len(f.data)))
	// hdlr comes before minf in every file that players read, so the kind is known.
	switch t.kind {
	case "video":
		return m.videoEntry(t, f, entry)
	case "audio":
		return m.audioEntry(s, f, entry)
	}
	return nil
}

func (m *movie) videoEntry(t *track, f *fields, entry box) error {
	s := &t.entry
	f.take(16)
	s.Width, s.Height = int(f.u16()), int(f.u16())
	t.pixels = s.Width
	f.take(50)
	if err := f.err(s.Tag); err != nil {
		return err
	}
	if profile := proresProfiles[s.Tag]; profile != "" {
		s.Profile, s.BitDepth, s.Chroma = profile, 10, "4:2:2"
		if s.Tag == "ap4h" || s.Tag == "ap4x" {
			s.BitDepth, s.Chroma = 12, "4:4:4"
		}
	}
	return m.children(box{typ: s.Tag, off: entry.end - int64(len(f.data)), end: entry.end}, func(b box) error {
		t.hasAspect = t.hasAspect || b.typ == "pasp"
		return m.videoExtension(s, b)
	})
}

func (m *movie) videoExtension(s *Stream, b box) error {
	read := map[string]func(*Stream, []byte){
		"avcC": avcConfig, "hvcC": hevcConfig, "av1C": av1Config, "vpcC": vpConfig,
		"colr": colour, "pasp": pixelAspect, "esds": streamDescriptor,
	}[b.typ]
	if read == nil {
		return nil
	}
	data, err := m.small(b)
	if err == nil {
		read(s, data)
	}
	return err
}

func (m *movie) audioEntry(s *Stream, f *fields, entry box) error {
	version := f.u16()
	f.take(6)
	s.Channels, s.BitDepth = int(f.u16()), int(f.u16())
	f.take(4)
	s.SampleRate = int(f.u32() >> 16)
	quickTime := m.major == "" || m.major == "qt  " || slices.Contains(m.brands, "qt  ")
	switch {
	case version == 1 && quickTime:
		f.take(16)
	case version == 2 && quickTime:
		f.take(4)
		s.SampleRate = wholeRate(math.Float64frombits(f.u64()))
		s.Channels = int(min(f.u32(), math.MaxUint16))
		f.take(4)
		s.BitDepth = int(min(f.u32(), 64))
		f.take(12)
	}
	if err := f.err(s.Tag); err != nil {
		return err
	}
	if s.Codec != "pcm" {
		s.BitDepth = 0
	}
	if depth := map[string]int{"in24": 24, "in32": 32, "fl32": 32, "fl64": 64}[s.Tag]; depth > 0 {
		s.BitDepth = depth
	}
	return m.audioExtensions(s, box{typ: s.Tag, off: entry.end - int64(len(f.data)), end: entry.end})
}

// wholeRate distrusts a rate stored as a float.
func wholeRate(rate float64) int {
	if !(rate > 0 && rate < 1<<24) {
		return 0
	}
	return int(math.Round(rate))
}

// audioExtensions goes down into wave, where QuickTime keeps its esds.
func (m *movie) audioExtensions(s *Stream, in box) error {
	return m.children(in, func(b box) error {
		if b.typ == "wave" {
			return m.audioExtensions(s, b)
		}
		read := map[string]func(*Stream, []byte){"esds": streamDescriptor, "alac": alacConfig}[b.typ]
		if read == nil {
			return nil
		}
		data, err := m.small(b)
		if err == nil {
			read(s, data)
		}
		return err
	})
}
