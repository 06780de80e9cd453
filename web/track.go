package web

import (
	"fmt"
	"strconv"
	"strings"
)

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
