package media

import (
	"strings"

	"rendermac/media/probe"
)

// InputMedia is what ffprobe said of a file, reduced to what planning and
// checking need; as JSON it is the wire's input_media.
type InputMedia struct {
	Format    string        `json:"format"`
	DurationS float64       `json:"duration_s"`
	StartS    float64       `json:"start_s"`
	Bytes     int64         `json:"bytes"`
	Timecode  string        `json:"timecode"`
	Streams   []InputStream `json:"streams"`

	cut string // where the file breaks off, a clause; "" where it is whole
}

// InputStream is one stream; StartS counts from the start of the whole file.
type InputStream struct {
	Index       int     `json:"index"`
	Kind        string  `json:"kind"`
	Codec       string  `json:"codec"`
	Tag         string  `json:"tag"`
	Profile     string  `json:"profile"`
	Width       int     `json:"width"`
	Height      int     `json:"height"`
	PixelAspect float64 `json:"pixel_aspect"` // width of a pixel by its height
	Rotation    int     `json:"rotation"`
	PixelFormat string  `json:"pixel_format"`
	FieldOrder  string  `json:"field_order"`
	Range       string  `json:"range"`
	Matrix      string  `json:"matrix"`
	Transfer    string  `json:"transfer"`
	Primaries   string  `json:"primaries"`
	FPS         float64 `json:"fps"`
	Frames      int64   `json:"frames"` // where the file, or who renders it, counts them
	Variable    bool    `json:"variable_rate"`
	SampleRate  int     `json:"sample_rate"`
	Channels    int     `json:"channels"`
	Layout      string  `json:"layout"`
	SampleBits  int     `json:"sample_bits"`
	StartS      float64 `json:"start_s"`
	DurationS   float64 `json:"duration_s"`
	Language    string  `json:"language"`
	AttachedPic bool    `json:"attached_pic"`

	taggedEndS float64 // Matroska's DURATION tag: where the writer left off
}

// Demuxer is the one name under which ffmpeg's -f takes this format.
func (m *InputMedia) Demuxer() string {
	name, _, _ := strings.Cut(m.Format, ",")
	return name
}

// of lists the streams of a kind that are content: cover art is none.
func (m *InputMedia) of(kind string) []InputStream {
	var list []InputStream
	for _, s := range m.Streams {
		if s.Kind == kind && !s.AttachedPic {
			list = append(list, s)
		}
	}
	return list
}

// shows tells whether the picture of an input is so, where there is one and it is
// known what it is.
func (m *InputMedia) shows(is func(InputStream) bool) bool {
	if m == nil {
		return false
	}
	videos := m.of("video")
	return len(videos) > 0 && is(videos[0])
}

// hasTimecode is true for a known timecode, and for a track of it.
func (m *InputMedia) hasTimecode() bool {
	return m.Timecode != "" || len(m.of("timecode")) > 0
}

// shown is the size on screen: upright, with square pixels.
func (s InputStream) shown() (w, h float64) {
	w, h = float64(s.Width)*s.PixelAspect, float64(s.Height)
	if s.Rotation%180 != 0 {
		w, h = h, w
	}
	return w, h
}

func (s InputStream) interlaced() bool {
	switch s.FieldOrder {
	case "tt", "bb", "tb", "bt":
		return true
	}
	return false
}

// hdr tells PQ and HLG, whichever names ffprobe or a colr box use.
func (s InputStream) hdr() bool {
	return s.Transfer == "smpte2084" || s.Transfer == "arib-std-b67"
}

// fromProbes takes the server's own reading for an input's media. The probe
// gives sizes as displayed, so nothing is left to turn or stretch.
func fromProbes(in []*probe.Media) []*InputMedia {
	list := make([]*InputMedia, len(in))
	for i, m := range in {
		if m != nil {
			list[i] = fromProbe(m)
		}
	}
	return list
}

func fromProbe(m *probe.Media) *InputMedia {
	im := &InputMedia{Format: m.Container, DurationS: m.DurationS}
	for i, s := range m.Streams {
		im.Streams = append(im.Streams, InputStream{
			Index: i, Kind: s.Kind, Codec: s.Codec, Tag: s.Tag, Profile: s.Profile,
			Width: s.Width, Height: s.Height, PixelAspect: 1, FPS: s.FPS, Frames: s.Frames,
			Matrix: s.Color.Matrix, Transfer: s.Color.Transfer, Primaries: s.Color.Primaries,
			SampleRate: s.SampleRate, Channels: s.Channels,
			StartS: s.StartS, DurationS: s.DurationS, Language: s.Language, AttachedPic: s.AttachedPic,
		})
	}
	return im
}
