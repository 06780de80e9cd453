package media

import (
	"encoding/json"
	"strings"

	"rendermac/media/probe"
)

// Said reads what an agent's ffprobe said of an input, in the words of the
// server's own reader; nil is what says nothing.
func Said(raw json.RawMessage) *probe.Media {
	var in InputMedia
	if json.Unmarshal(raw, &in) != nil || len(in.Streams) == 0 {
		return nil
	}
	out := &probe.Media{Container: in.Demuxer(), Brands: []string{}, DurationS: max(0, in.DurationS)}
	for _, s := range in.Streams {
		out.Streams = append(out.Streams, s.said())
	}
	return out
}

func (s InputStream) said() probe.Stream {
	out := probe.Stream{
		Kind: s.Kind, Codec: s.Codec, Tag: s.Tag, Profile: s.Profile, Rotation: (720 - s.Rotation) % 360, BitDepth: s.SampleBits,
		FPS: s.FPS, DurationS: s.DurationS, StartS: s.StartS, SampleRate: s.SampleRate, Channels: s.Channels,
		Color:       probe.Color{Primaries: s.Primaries, Transfer: s.Transfer, Matrix: s.Matrix},
		AttachedPic: s.AttachedPic, Language: s.Language,
	}
	if s.Tag == "tmcd" {
		out.Kind = "timecode"
	}
	if strings.HasPrefix(s.Codec, "pcm_") {
		out.Codec = "pcm"
	}
	w, h := s.shown()
	out.Width, out.Height = int(w+0.5), int(h+0.5)
	for _, chroma := range [][2]string{{"420", "4:2:0"}, {"422", "4:2:2"}, {"444", "4:4:4"}} {
		if strings.Contains(s.PixelFormat, chroma[0]) {
			out.Chroma = chroma[1]
		}
	}
	return out
}
