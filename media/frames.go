package media

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// framesParams is transcode's vocabulary for pictures that have neither a rate
// nor sound of their own.
type framesParams struct {
	FPS float64 `json:"fps,omitempty" required:"" min:"1" max:"240" help:"how many of the images are a second; 23.976, 29.97 and 59.94 are NTSC's 24000/1001, 30000/1001 and 60000/1001"`
	transcodeParams
}

var _ = define(definition[framesParams]{
	name: "ffmpeg.frames", title: "Make a film of a zip of numbered images",
	minInputs: 1, maxInputs: 1, archive: Frames,
	presets: ofTranscode(func(p transcodeParams) framesParams { return framesParams{transcodeParams: p} }),
	without: []string{"audio_codec", "audio_bitrate", "audio_tracks", "subtitles"},
	only:    onlyEncoded,
	settle:  settleFrames,
	needs:   func(p *framesParams, in []*InputMedia) []string { return p.needs(in) },
	output:  func(p *framesParams) Output { return p.file() },
	plan:    planFrames,
	expect:  expectFrames,
})

// onlyEncoded is what a picture that is made anew can become.
var onlyEncoded = map[string][]string{"video_codec": {"h264", "hevc", "prores"}, "container": {"mp4", "mov"}}

// ofTranscode lists those of transcode's presets that make a picture.
func ofTranscode[P any](from func(transcodeParams) P) (list []presetOf[P]) {
	for _, preset := range transcodePresets {
		if slices.Contains(append(onlyEncoded["video_codec"], ""), preset.params.VideoCodec) {
			list = append(list, presetOf[P]{preset.name, preset.title, from(preset.params)})
		}
	}
	return list
}

func settleFrames(p *framesParams, sent paramSet) []Fault {
	p.AudioCodec, p.AudioBitrate = "", 0
	faults := settleTranscode(&p.transcodeParams, sent)
	p.AudioCodec = ""
	return faults
}

// planFrames is a transcode of the film that the images are.
func planFrames(p *framesParams, in []Input, env Env) (Plan, error) {
	in = slices.Clone(in)
	film, err := p.film(in[0].Media)
	if err != nil {
		return Plan{}, err
	}
	in[0].Media = *film
	plan, err := planTranscode(&p.transcodeParams, in, env)
	plan.Frames = p.count(film)
	return plan, err
}

// film is the images' media as that of a film at the rate that was asked for.
func (p *framesParams) film(images InputMedia) (*InputMedia, error) {
	videos := images.of("video")
	if len(videos) == 0 || videos[0].Frames <= 0 {
		return nil, errors.New("the zip holds no images")
	}
	s := videos[0]
	s.FPS, s.Variable, s.StartS = exactRate(p.FPS), false, 0
	s.DurationS = float64(s.Frames) / s.FPS
	images.DurationS, images.StartS, images.Streams = s.DurationS, 0, []InputStream{s}
	return &images, nil
}

// count is how many frames the result has; 0 where it need not have them all.
func (p *framesParams) count(film *InputMedia) int64 {
	if p.StartS > 0 || p.DurationS > 0 || p.DamagedInput == "accept" {
		return 0
	}
	return film.Streams[0].Frames
}

func expectFrames(p *framesParams, in []*InputMedia) Expectation {
	if len(in) == 0 || in[0] == nil {
		return expectTranscode(&p.transcodeParams, nil)
	}
	film, err := p.film(*in[0])
	if err != nil {
		return expectTranscode(&p.transcodeParams, nil)
	}
	e := expectTranscode(&p.transcodeParams, []*InputMedia{film})
	e.Video.Frames = p.count(film)
	return e
}

// Sequence is the media of so many images, where m is that of the first.
func (m *InputMedia) Sequence(frames int, bytes int64) InputMedia {
	all := *m
	all.Format, all.Bytes, all.DurationS, all.Streams = "image2", bytes, 0, m.of("video")
	for i := range all.Streams {
		all.Streams[i].Frames, all.Streams[i].DurationS = int64(frames), 0
	}
	return all
}

// FrameName is what the agent calls an image of a sequence: what the zip called
// it could be read as a pattern, and an extension as what it holds. Numbers
// begin at 1.
func FrameName(number int) string { return fmt.Sprintf("%08d", number) }

// opened is how ffmpeg is told to read the input.
func (in Input) opened() []string {
	if len(in.Files) == 0 {
		return guarded(in.Path, in.Demuxer)
	}
	s := in.Media.Streams[0]
	pattern := strings.ReplaceAll(in.Path, "%", "%%") + "/%08d"
	return []string{
		"-protocol_whitelist", "file", "-format_whitelist", "image2", "-f", "image2", "-pattern_type", "sequence",
		"-start_number", "1", "-framerate", rateText(s.FPS), "-c:v", s.Codec, "-i", "file:" + pattern,
	}
}

// exactRate takes what people write for NTSC's rates (29.97) for what it means.
func exactRate(fps float64) float64 {
	if ntsc := math.Ceil(fps) * 1000 / 1001; fps != math.Ceil(fps) && math.Abs(fps-ntsc) < 0.006 {
		return ntsc
	}
	return fps
}

// rateText is a rate as ffmpeg reads it without rounding.
func rateText(fps float64) string {
	if whole := math.Ceil(fps); fps != whole && math.Abs(fps-whole*1000/1001) < 1e-6 {
		return plain(whole*1000) + "/1001"
	}
	return plain(fps)
}
