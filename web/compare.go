package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// File is an input or the output.
type File struct {
	Name, Path  string // the path under a shared root, where it came by one
	JobID       string // whose output it is
	Bytes       int64
	SHA256      string // empty: nobody has read it yet
	ContentType string // of the output
	Media       *Media
	Warnings    []string
	Deleted     *time.Time // by retention
}

// Media is what a file holds; what is unknown is empty or 0.
type Media struct {
	ByAgent   bool // an agent has said it, of what the server cannot read
	Container string
	Seconds   float64
	Oddity    string
	Tracks    []Track
}

// Track is one stream of a file.
type Track struct {
	Kind, Codec, Tag, Profile   string
	Width, Height               int // as displayed
	Rotation, BitDepth          int
	Chroma                      string
	FPS                         float64
	SampleRate, Channels        int
	Primaries, Transfer, Matrix string
	Cover                       bool
	Language                    string
}

// Difference is one fact of input and output side by side.
type Difference struct {
	Name, In, Out string
	Differs       bool
}

// Compared are the facts that either side has. One input stands beside the output;
// several stand in a list of their own, and here is the output alone.
func (j Job) Compared() (rows []Difference) {
	var in, out facts
	if len(j.Inputs) == 1 {
		in = factsOf(&j.Inputs[0])
	}
	if j.Output != nil {
		out = factsOf(j.Output)
	}
	for _, name := range factNames {
		a, b := in[name], out[name]
		if a != "" || b != "" {
			rows = append(rows, Difference{name, a, b, a != b && in != nil && out != nil})
		}
	}
	return rows
}

type facts map[string]string

var factNames = []string{"Container", "Picture", "Duration", "Frame rate", "Video", "Colours", "Audio", "Other tracks", "Bytes"}

func factsOf(f *File) facts {
	all := facts{}
	if f.Bytes > 0 || f.SHA256 != "" {
		all["Bytes"] = Bytes(f.Bytes)
	}
	m := f.Media
	if m == nil {
		return all
	}
	all["Container"] = m.Container
	if m.Seconds > 0 {
		all["Duration"] = Seconds(m.Seconds)
	}
	if v := m.track("video"); v != nil {
		all["Picture"], all["Video"], all["Colours"] = v.size(), v.video(), v.colours()
		if v.FPS > 0 {
			all["Frame rate"] = number(v.FPS) + " fps"
		}
	}
	if a := m.track("audio"); a != nil {
		all["Audio"] = a.audio()
	}
	all["Other tracks"] = m.others()
	return all
}

// Brief says a file in one line.
func (f File) Brief() string {
	all := factsOf(&f)
	var said []string
	for _, name := range []string{"Container", "Picture", "Frame rate", "Duration", "Bytes"} {
		if all[name] != "" {
			said = append(said, all[name])
		}
	}
	return strings.Join(said, " · ")
}

func (m Media) track(kind string) *Track {
	for i, t := range m.Tracks {
		if t.Kind == kind && !t.Cover {
			return &m.Tracks[i]
		}
	}
	return nil
}

// others counts the tracks that have no line of their own.
func (m Media) others() string {
	counts, order := map[string]int{}, []string{}
	for i, t := range m.Tracks {
		kind := t.Kind
		switch {
		case t.Cover:
			kind = "cover"
		case &m.Tracks[i] == m.track(kind) && (kind == "video" || kind == "audio"):
			continue
		}
		if counts[kind]++; counts[kind] == 1 {
			order = append(order, kind)
		}
	}
	for i, kind := range order {
		if counts[kind] > 1 {
			order[i] = fmt.Sprintf("%d × %s", counts[kind], kind)
		}
	}
	return strings.Join(order, ", ")
}

func (t Track) size() string {
	if t.Width == 0 {
		return ""
	}
	size := fmt.Sprintf("%d × %d", t.Width, t.Height)
	if t.Rotation != 0 {
		size += fmt.Sprintf(" (turned by %d°)", t.Rotation)
	}
	return size
}

var codecNames = map[string]string{
	"h264": "H.264", "hevc": "HEVC", "prores": "ProRes", "av1": "AV1", "vp8": "VP8", "vp9": "VP9", "mjpeg": "JPEG", "png": "PNG", "mpeg4": "MPEG-4", "dnxhd": "DNxHD",
	"aac": "AAC", "alac": "ALAC", "pcm": "PCM", "mp3": "MP3", "opus": "Opus", "flac": "FLAC", "ac3": "AC-3", "eac3": "E-AC-3", "vorbis": "Vorbis",
}

func codecName(codec string) string {
	if name := codecNames[codec]; name != "" {
		return name
	}
	return codec
}

func (t Track) video() string {
	said := []string{strings.TrimSpace(codecName(t.Codec) + " " + t.Profile)}
	if t.BitDepth > 0 {
		said = append(said, fmt.Sprintf("%d bit", t.BitDepth))
	}
	if t.Chroma != "" {
		said = append(said, t.Chroma)
	}
	return strings.Join(said, ", ")
}

func (t Track) colours() string {
	var said []string
	for _, name := range []string{t.Primaries, t.Transfer, t.Matrix} {
		if name != "" && (len(said) == 0 || said[len(said)-1] != name) {
			said = append(said, name)
		}
	}
	return strings.Join(said, " / ")
}

func (t Track) audio() string {
	said := []string{codecName(t.Codec)}
	if t.Codec == "pcm" && t.BitDepth > 0 {
		said[0] += fmt.Sprintf(" %d bit", t.BitDepth)
	}
	if t.SampleRate > 0 {
		said = append(said, number(float64(t.SampleRate)/1000)+" kHz")
	}
	switch t.Channels {
	case 0:
	case 1:
		said = append(said, "mono")
	case 2:
		said = append(said, "stereo")
	default:
		said = append(said, fmt.Sprintf("%d channels", t.Channels))
	}
	return strings.Join(said, ", ")
}

// number has at most three digits behind the point, and no zeros at its end.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'f', 3, 64)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// ShortDigest is a digest's beginning.
func (f File) ShortDigest() string { return f.SHA256[:min(len(f.SHA256), 12)] }
