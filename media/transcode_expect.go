package media

import "rendermac/media/probe"

// expectTranscode derives what must come out from the params and, where the
// input is known, from the same choices that planned the run.
func expectTranscode(p *transcodeParams, in []*InputMedia) Expectation {
	e := Expectation{Container: p.Container, Faststart: p.Container != "mov", Audio: p.expectAudio()}
	if p.VideoCodec != "none" {
		e.Video = p.expectVideo()
	}
	if p.VideoCodec == "h264" && p.AudioCodec == "aac" {
		e.Channels = 2
	}
	if len(in) == 0 || in[0] == nil {
		return e
	}
	k, err := p.pick(in[0])
	if err != nil {
		return e // the run itself must have failed on such an input
	}
	if streams, err := p.expectStreams(k); err == nil {
		e.Streams = streams
	}
	if e.Video != nil && e.Video.Encoded {
		e.Video.Color = p.expectColor(*k.video)
		e.Video.Width, e.Video.Height = p.size(*k.video)
		p.expectDepth(e.Video, *k.video)
	}
	return e
}

var bt709 = probe.Color{Primaries: "bt709", Transfer: "bt709", Matrix: "bt709"}

// expectColor is bt709 for h264; pictures that stay HDR keep their tag, without
// which they look grey.
func (p *transcodeParams) expectColor(s InputStream) probe.Color {
	switch {
	case p.VideoCodec == "prores":
		return probe.Color{}
	case p.keepsHDR(s):
		return probe.Color{Transfer: s.Transfer}
	case p.VideoCodec == "h264":
		return bt709
	}
	return probe.Color{}
}

// expectDepth asks hevc for the source's depth, where that is known.
func (p *transcodeParams) expectDepth(v *ExpectVideo, s InputStream) {
	switch {
	case p.VideoCodec != "hevc" || s.PixelFormat == "":
	case s.deep():
		v.BitDepth, v.Profile = 10, "Main 10"
	default:
		v.BitDepth, v.Profile = 8, "Main"
	}
}

func (p *transcodeParams) expectAudio() string {
	if p.AudioCodec == "copy" || p.AudioCodec == "none" {
		return ""
	}
	return p.AudioCodec
}

func (p *transcodeParams) expectVideo() *ExpectVideo {
	if p.VideoCodec == "copy" {
		return &ExpectVideo{}
	}
	v := &ExpectVideo{
		Codec: p.VideoCodec, Encoded: true, BoxWidth: p.Width, BoxHeight: p.Height, Turns: p.turns(),
		Tags: map[string][]string{"h264": {"avc1"}, "hevc": {"hvc1"}}[p.VideoCodec],
	}
	switch p.VideoCodec {
	case "h264":
		v.BitDepth, v.Profile = 8, "High"
		if p.Tonemap != "off" {
			v.Color = bt709
		}
	case "prores":
		v.Tags = []string{map[string]string{"proxy": "apco", "lt": "apcs", "standard": "apcn", "hq": "apch"}[p.proresProfile()]}
	}
	return v
}
