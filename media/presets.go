package media

// presetTraits is what only presets say. Resolved params carry it, so that the
// Mac which works by them need not know the preset.
type presetTraits struct {
	Boxed     bool   `json:"boxed,omitempty"`      // width and height are a box that the picture is never enlarged to
	EditProxy bool   `json:"edit_proxy,omitempty"` // every frame a key frame, sound of 16 bits
	ElseAudio string `json:"else_audio,omitempty"` // the codec of sound that cannot be copied
}

// transcodePresets are those of media.md's table.
var transcodePresets = []presetOf[transcodeParams]{
	{"web-1080p", "For the web, up to 1920×1080", webPreset(1920, 1080, 160_000)},
	{"web-720p", "For the web, up to 1280×720", webPreset(1280, 720, 128_000)},
	{"web-480p", "For the web, up to 854×480", webPreset(854, 480, 96_000)},
	{"hevc-2160p", "HEVC up to 3840×2160, HDR kept", transcodeParams{
		VideoCodec: "hevc", AudioCodec: "aac", Width: 3840, Height: 2160, Quality: 65, AudioBitrate: 192_000,
	}},
	{"archive-hevc", "HEVC of full size to keep, HDR and sound kept", transcodeParams{
		VideoCodec: "hevc", AudioCodec: "copy", Quality: 80, presetTraits: presetTraits{ElseAudio: "alac"},
	}},
	{"prores-422", "ProRes 422 for editing, full size", transcodeParams{VideoCodec: "prores", AudioCodec: "pcm", Quality: 65}},
	{"prores-proxy", "ProRes proxy for editing, full size", transcodeParams{VideoCodec: "prores", AudioCodec: "pcm", Quality: 20}},
	{"edit-proxy-h264", "H.264 for editing, up to 1280×720, every frame a key frame", transcodeParams{
		VideoCodec: "h264", AudioCodec: "pcm", Container: "mov", Width: 1280, Height: 720, Quality: 50, presetTraits: presetTraits{EditProxy: true},
	}},
	{"social-9x16", "Upright for social media, edges cut, up to 1080×1920", socialPreset(1080, 1920)},
	{"social-1x1", "Square for social media, edges cut, up to 1080×1080", socialPreset(1080, 1080)},
	{"podcast-m4a", "Sound only, for podcasts", transcodeParams{VideoCodec: "none", AudioCodec: "aac", AudioBitrate: 128_000}},
}

func webPreset(width, height int, audio bitrate) transcodeParams {
	return transcodeParams{
		VideoCodec: "h264", AudioCodec: "aac", Width: width, Height: height,
		Quality: 65, AudioBitrate: audio,
	}
}

func socialPreset(width, height int) transcodeParams {
	p := webPreset(width, height, 160_000)
	p.Fit = "cover"
	return p
}

// settleTraits drops those that a sent param replaces, and boxes a preset's own
// size: one that the buyer gave is meant as given. What is resolved has its
// traits beside all of its params.
func (p *transcodeParams) settleTraits(sent paramSet) {
	sized := p.Width > 0 || p.Height > 0
	if !sent.has("boxed") {
		p.Boxed = p.Preset != "" && sized && !sent.has("width") && !sent.has("height")
	}
	if p.VideoCodec != "h264" && p.VideoCodec != "hevc" {
		p.EditProxy = false
	}
	if p.AudioCodec != "copy" || sent.has("audio_codec") && !sent.has("else_audio") {
		p.ElseAudio = ""
	}
}

// box is the size that the picture meets. That of a preset turns with the picture
// where nothing is cut off, and shrinks to what the picture fills: it is never
// enlarged.
func (p *transcodeParams) box(sw, sh float64) (bw, bh float64) {
	bw, bh = float64(p.Width), float64(p.Height)
	if !p.Boxed || p.Fit == "stretch" {
		return bw, bh
	}
	if p.turns() && (sw-sh)*(bw-bh) < 0 {
		bw, bh = bh, bw
	}
	switch {
	case bw == 0 || bh == 0:
		return min(bw, sw), min(bh, sh)
	case p.Fit == "contain":
		if sw <= bw && sh <= bh {
			return sw, sh
		}
		return bw, bh
	}
	by := min(1, sw/bw, sh/bh)
	return bw * by, bh * by
}

func (p *transcodeParams) turns() bool {
	return p.Boxed && p.Fit == "contain" && p.Width > 0 && p.Height > 0
}
