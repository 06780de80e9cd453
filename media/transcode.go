package media

import "slices"

// transcodeParams is ffmpeg.transcode's whole vocabulary: schema, defaults,
// validation and help derive from the tags. Zero means "not given".
type transcodeParams struct {
	Preset       string  `json:"preset,omitempty" help:"a named set of params; params given beside it win over it"`
	VideoCodec   string  `json:"video_codec,omitempty" enum:"h264,hevc,prores,copy,none" default:"h264" help:"what the picture is encoded as; copy leaves it as it is, none leaves it out"`
	AudioCodec   string  `json:"audio_codec,omitempty" enum:"aac,alac,pcm,copy,none" default:"aac" help:"what the sound is encoded as; copy leaves it as it is, none leaves it out"`
	Container    string  `json:"container,omitempty" enum:"mp4,mov,m4a" help:"the kind of file; follows from the codecs where it is not given"`
	Width        int     `json:"width,omitempty" min:"2" max:"16384" help:"width in pixels; the height follows where it is not given"`
	Height       int     `json:"height,omitempty" min:"2" max:"16384" help:"height in pixels; the width follows where it is not given"`
	Fit          string  `json:"fit,omitempty" enum:"contain,cover,stretch" default:"contain" help:"how the picture meets width and height: inside them, filling them with its edges cut, or distorted to them"`
	FPS          float64 `json:"fps,omitempty" min:"1" max:"240" help:"frames a second; the source's own where it is not given; 23.976, 29.97 and 59.94 are NTSC's 24000/1001, 30000/1001 and 60000/1001"`
	Quality      int     `json:"quality,omitempty" min:"1" max:"100" help:"1 smallest to 100 best; for prores up to 25 is proxy, up to 50 LT, up to 75 standard, above it HQ"`
	VideoBitrate bitrate `json:"video_bitrate,omitempty" min:"10000" max:"800000000" help:"bits per second of the picture, in place of quality"`
	AudioBitrate bitrate `json:"audio_bitrate,omitempty" min:"8000" max:"1536000" help:"bits per second of aac sound"`
	StartS       float64 `json:"start_s,omitempty" min:"0" max:"1000000" help:"seconds to skip at the start"`
	DurationS    float64 `json:"duration_s,omitempty" min:"0.01" max:"1000000" help:"seconds to keep; to the end where it is not given"`
	Encoder      string  `json:"encoder,omitempty" enum:"auto,hardware,software" default:"auto" help:"hardware is VideoToolbox; auto takes it where the device has it"`
	Tonemap      string  `json:"tonemap,omitempty" enum:"auto,off" default:"auto" help:"auto brings HDR pictures to SDR where the codec is h264"`
	AudioTracks  string  `json:"audio_tracks,omitempty" enum:"first,all" default:"first" help:"which of the sound tracks are kept"`
	Subtitles    string  `json:"subtitles,omitempty" enum:"drop,keep" default:"drop" help:"keep carries text subtitles over"`
	BurnTimecode bool    `json:"burn_timecode,omitempty" help:"draws the timecode into the picture"`
	DamagedInput string  `json:"damaged_input,omitempty" enum:"reject,accept" default:"reject" help:"accept keeps what could be decoded of a damaged input"`
	presetTraits
}

var _ = define(definition[transcodeParams]{
	name: "ffmpeg.transcode", title: "Transcode a film or a sound file",
	minInputs: 1, maxInputs: 1,
	presets: transcodePresets,
	settle:  settleTranscode,
	needs:   (*transcodeParams).needs,
	output:  (*transcodeParams).file,
	plan:    planTranscode,
	expect:  expectTranscode,
})

func (p *transcodeParams) encodesVideo() bool {
	return p.VideoCodec != "none" && p.VideoCodec != "copy"
}

func (p *transcodeParams) file() Output {
	types := map[string]string{"mp4": "video/mp4", "mov": "video/quicktime", "m4a": "audio/mp4"}
	return Output{Ext: p.Container, ContentType: types[p.Container]}
}

// needs lists what only some devices have. What every device that offers this
// service can do (h264, aac, prores in software) is not listed.
func (p *transcodeParams) needs(in []*InputMedia) []string {
	needs := []string{}
	switch {
	case p.encodesVideo() && p.Encoder == "hardware":
		needs = append(needs, "videotoolbox_"+p.VideoCodec)
	case p.VideoCodec == "hevc" && p.Encoder == "software":
		needs = append(needs, "libx265")
	case p.VideoCodec == "hevc":
		needs = append(needs, "hevc")
	}
	if p.BurnTimecode {
		needs = append(needs, "drawtext")
	}
	if slices.ContainsFunc(in, func(m *InputMedia) bool { return m.shows(p.recolours) }) {
		needs = append(needs, "zscale")
	}
	return needs
}
