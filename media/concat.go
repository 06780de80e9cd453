package media

import "slices"

// What concat takes is transcode's vocabulary: the inputs become one film, and
// that is what the params are about.
var _ = define(definition[transcodeParams]{
	name: "ffmpeg.concat", title: "Join films, one after another",
	minInputs: 2, maxInputs: 100,
	presets: ofTranscode(func(p transcodeParams) transcodeParams { return p }),
	without: []string{"audio_tracks", "subtitles"},
	only: map[string][]string{
		"video_codec": onlyEncoded["video_codec"], "container": onlyEncoded["container"],
		"audio_codec": {"aac", "alac", "pcm", "none"},
	},
	settle: settleConcat,
	needs:  needsOfConcat,
	output: (*transcodeParams).file,
	plan:   planConcat,
	expect: expectConcat,
})

// settleConcat takes ALAC where a preset would copy: joined sound is no copy, and
// ALAC loses as little.
func settleConcat(p *transcodeParams, sent paramSet) []Fault {
	if p.AudioCodec == "copy" {
		p.AudioCodec = "alac"
	}
	return settleTranscode(p, sent)
}

// needsOfConcat is what the film as a whole needs; colours are converted of one
// input that is HDR where the film is not, or of a wide gamut.
func needsOfConcat(p *transcodeParams, in []*InputMedia) []string {
	needs := p.needs(nil)
	if len(in) == 0 || in[0] == nil {
		return needs
	}
	keeps := p.keepsFirstHDR(in[0])
	recoloured := func(s InputStream) bool { return s.wide() || s.hdr() && !keeps && p.Tonemap != "off" }
	if slices.ContainsFunc(in, func(m *InputMedia) bool { return m.shows(recoloured) }) {
		needs = append(needs, "zscale")
	}
	return needs
}

// keepsFirstHDR tells whether the film is HDR: if the first input is, and the
// codec or the params keep it so.
func (p *transcodeParams) keepsFirstHDR(first *InputMedia) bool { return first.shows(p.keepsHDR) }

// expectConcat knows the film only where it knows every input. It asks for no
// count of frames: what rate a variable one becomes, two readers see differently.
func expectConcat(p *transcodeParams, in []*InputMedia) Expectation {
	for _, m := range in {
		if m == nil {
			return expectTranscode(p, nil)
		}
	}
	r, err := p.reelOf(in)
	if len(in) < 2 || err != nil {
		return expectTranscode(p, nil)
	}
	return expectTranscode(p, []*InputMedia{&r.film})
}
