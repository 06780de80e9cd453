package media

// settleTranscode lets explicit params win over the preset's, takes the
// container from the codecs, and refuses what excludes each other.
func settleTranscode(p *transcodeParams, sent paramSet) []Fault {
	if p.VideoCodec == "" {
		p.VideoCodec = "h264"
	}
	if p.AudioCodec == "" {
		p.AudioCodec = "aac"
	}
	yieldToSent(p, sent)
	p.settleTraits(sent)
	if p.Container == "" {
		p.Container = containerFor(p)
	}
	faults := append(badContainer(p), withoutVideo(p)...)
	faults = append(faults, withCopy(p)...)
	if sent.has("quality") && sent.has("video_bitrate") {
		faults = append(faults, Fault{"params.video_bitrate", "excludes quality; give one of the two"})
	}
	if p.VideoCodec == "prores" && p.VideoBitrate > 0 {
		faults = append(faults, Fault{"params.video_bitrate", "does not apply to prores; its quality chooses proxy, LT, standard or HQ"})
	}
	if p.AudioCodec != "aac" && p.AudioBitrate > 0 {
		faults = append(faults, Fault{"params.audio_bitrate", "applies to aac only"})
	}
	if p.encodesVideo() && p.Quality == 0 && p.VideoBitrate == 0 {
		p.Quality = 65
	}
	return faults
}

// yieldToSent drops those of the preset's params that a sent one replaces or
// makes meaningless. A size is not among the latter: it is a promise, so that
// a preset with a size and video_codec copy are refused rather than bent.
func yieldToSent(p *transcodeParams, sent paramSet) {
	if sent.has("width") && !sent.has("height") {
		p.Height = 0
	}
	if sent.has("height") && !sent.has("width") {
		p.Width = 0
	}
	if !sent.has("quality") && (p.VideoBitrate > 0 || !p.encodesVideo()) {
		p.Quality = 0
	}
	if !sent.has("audio_bitrate") && p.AudioCodec != "aac" {
		p.AudioBitrate = 0
	}
	if sent.text("video_codec") == "none" && !sent.has("width") && !sent.has("height") {
		p.Width, p.Height = 0, 0
	}
}

func containerFor(p *transcodeParams) string {
	switch {
	case p.VideoCodec == "prores" || p.AudioCodec == "pcm":
		return "mov"
	case p.VideoCodec == "none":
		return "m4a"
	}
	return "mp4"
}

func badContainer(p *transcodeParams) (faults []Fault) {
	if p.VideoCodec == "prores" && p.Container != "mov" {
		faults = append(faults, Fault{"params.container", "prores fits into mov only"})
	}
	if p.AudioCodec == "pcm" && p.Container != "mov" {
		faults = append(faults, Fault{"params.container", "pcm fits into mov only"})
	}
	if p.VideoCodec != "none" && p.VideoCodec != "prores" && p.Container == "m4a" {
		faults = append(faults, Fault{"params.container", "m4a holds sound only; set video_codec to none"})
	}
	return faults
}

// withoutVideo and withCopy name every param that has nothing to act on.
func withoutVideo(p *transcodeParams) (faults []Fault) {
	if p.VideoCodec != "none" {
		return nil
	}
	if p.AudioCodec == "none" {
		faults = append(faults, Fault{"params.audio_codec", "none beside video_codec none leaves nothing"})
	}
	if p.Subtitles == "keep" {
		faults = append(faults, Fault{"params.subtitles", "keep needs a picture; video_codec is none"})
	}
	return append(faults, pictureParams(p, "needs a picture; video_codec is none")...)
}

func withCopy(p *transcodeParams) []Fault {
	if p.VideoCodec != "copy" {
		return nil
	}
	return pictureParams(p, "needs the picture to be encoded; video_codec is copy")
}

func pictureParams(p *transcodeParams, why string) (faults []Fault) {
	given := []struct {
		name string
		is   bool
	}{
		{"width", p.Width > 0},
		{"height", p.Height > 0},
		{"fit", p.Fit != "" && p.Fit != "contain"},
		{"fps", p.FPS > 0},
		{"quality", p.Quality > 0},
		{"video_bitrate", p.VideoBitrate > 0},
		{"encoder", p.Encoder != "" && p.Encoder != "auto"},
		{"burn_timecode", p.BurnTimecode},
	}
	for _, g := range given {
		if g.is {
			faults = append(faults, Fault{"params." + g.name, why})
		}
	}
	return faults
}
