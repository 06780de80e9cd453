package media

import (
	"slices"
	"strconv"
	"strings"
)

// audioParams is the sound of a film or a sound file, made again.
type audioParams struct {
	Preset       string  `json:"preset,omitempty" help:"a named set of params; params given beside it win over it"`
	Codec        string  `json:"codec,omitempty" enum:"aac,alac,pcm" default:"aac" help:"aac and alac give m4a, pcm gives wav"`
	Bitrate      bitrate `json:"bitrate,omitempty" min:"8000" max:"1536000" help:"bits per second of aac; by the channels where it is not given"`
	LoudnessLUFS float64 `json:"loudness_lufs,omitempty" min:"-70" max:"-5" help:"brings the whole to this loudness (EBU R128), with true peaks under -1 dBTP; -16 for podcasts, -23 for broadcast"`
	Channels     int     `json:"channels,omitempty" min:"1" max:"6" help:"1 mono, 2 stereo, 6 is 5.1; the source's own where it is not given"`
	SampleRate   int     `json:"sample_rate,omitempty" min:"8000" max:"192000" help:"samples a second, e.g. 44100 or 48000; the source's own where it is not given"`
	DamagedInput string  `json:"damaged_input,omitempty" enum:"reject,accept" default:"reject" help:"accept keeps what could be decoded of a damaged input"`
}

var _ = define(definition[audioParams]{
	name: "ffmpeg.audio", title: "Sound, of one format and loudness",
	minInputs: 1, maxInputs: 1,
	presets: []presetOf[audioParams]{
		{"podcast-m4a", "For podcasts, at -16 LUFS", audioParams{Codec: "aac", Bitrate: 128_000, LoudnessLUFS: -16}},
	},
	settle: settleAudio,
	needs:  func(*audioParams, []*InputMedia) []string { return []string{} },
	output: func(p *audioParams) Output {
		if p.Codec == "pcm" {
			return Output{Ext: "wav", ContentType: "audio/wav"}
		}
		return Output{Ext: "m4a", ContentType: "audio/mp4"}
	},
	plan:   planAudio,
	expect: expectAudio,
})

// sampleRates are those that encoders and players agree on; aac ends at 96000.
var sampleRates = []int{8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000, 176400, 192000}

func settleAudio(p *audioParams, sent paramSet) (faults []Fault) {
	if p.Codec == "" {
		p.Codec = "aac"
	}
	if p.Codec != "aac" && !sent.has("bitrate") {
		p.Bitrate = 0
	}
	if p.Codec != "aac" && p.Bitrate > 0 {
		faults = append(faults, Fault{"params.bitrate", "applies to aac only"})
	}
	allowed := sampleRates
	if p.Codec == "aac" {
		allowed = allowed[:slices.Index(allowed, 96000)+1]
	}
	if p.SampleRate > 0 && !slices.Contains(allowed, p.SampleRate) {
		var names []string
		for _, rate := range allowed {
			names = append(names, strconv.Itoa(rate))
		}
		faults = append(faults, Fault{"params.sample_rate", "must be one of " + strings.Join(names, ", ") + " for " + p.Codec})
	}
	return faults
}

// track is the part that transcode does as well: which sound is taken, and how
// it is encoded.
func (p *audioParams) track() *transcodeParams {
	container := "m4a"
	if p.Codec == "pcm" {
		container = "wav"
	}
	return &transcodeParams{
		VideoCodec: "none", AudioCodec: p.Codec, AudioBitrate: p.Bitrate, AudioTracks: "first", Container: container, DamagedInput: p.DamagedInput,
	}
}

func expectAudio(p *audioParams, in []*InputMedia) Expectation {
	e := Expectation{Container: p.track().Container, Faststart: p.Codec != "pcm", Audio: p.Codec, Channels: p.Channels, Rate: p.SampleRate}
	if len(in) == 0 || in[0] == nil {
		return e
	}
	k, err := p.track().pick(in[0])
	if err != nil {
		return e // the run itself must have failed on such an input
	}
	if streams, err := p.track().expectStreams(k); err == nil {
		e.Streams = streams
	}
	return e
}
