package media

import (
	"errors"
	"fmt"
	"slices"
)

// picked is which of the input's streams go into the output.
type picked struct {
	video     *InputStream
	audio     []InputStream
	subtitles []InputStream
	timecode  bool
	warnings  []string
}

// pick never takes cover art for the picture, nor any data stream.
func (p *transcodeParams) pick(m *InputMedia) (picked, error) {
	var k picked
	if p.VideoCodec != "none" {
		videos := m.of("video")
		if len(videos) == 0 {
			return k, errors.New("the input has no video stream")
		}
		k.video = &videos[0]
		k.timecode = p.Container == "mov" && m.hasTimecode()
	}
	if p.AudioCodec != "none" {
		k.audio = m.of("audio")
		if p.AudioTracks == "first" && len(k.audio) > 1 {
			k.audio = k.audio[:1]
		}
	}
	if k.video != nil {
		k.audio = slices.DeleteFunc(k.audio, p.misses)
	}
	if k.video == nil && len(k.audio) == 0 {
		return k, errors.New("the input has no audio stream")
	}
	if p.Subtitles == "keep" {
		p.pickSubtitles(m, &k)
	}
	return k, nil
}

// pickSubtitles keeps text; mp4 and mov have no place for pictures of text.
func (p *transcodeParams) pickSubtitles(m *InputMedia, k *picked) {
	text := []string{"subrip", "srt", "ass", "ssa", "webvtt", "mov_text", "text"}
	for _, s := range m.of("subtitle") {
		if slices.Contains(text, s.Codec) {
			k.subtitles = append(k.subtitles, s)
			continue
		}
		k.warnings = append(k.warnings, "a subtitle track was left out: "+plainCodec(s.Codec)+" is no text, and nothing else fits into "+p.Container)
	}
}

func (k picked) streams() []InputStream {
	if k.video == nil {
		return k.audio
	}
	return append([]InputStream{*k.video}, k.audio...)
}

// length is how long a stream lasts inside the window of start_s and
// duration_s; negative where the window misses it.
func (p *transcodeParams) length(s InputStream) float64 {
	if s.DurationS <= 0 {
		return 0
	}
	from, to := max(s.StartS, p.StartS), s.StartS+s.DurationS
	if p.DurationS > 0 {
		to = min(to, p.StartS+p.DurationS)
	}
	return to - from
}

// misses is a track of which the window holds nothing: it would be an empty one.
func (p *transcodeParams) misses(s InputStream) bool {
	return s.DurationS > 0 && p.length(s) < 0.05 && (p.StartS > 0 || p.DurationS > 0)
}

func (p *transcodeParams) expectStreams(k picked) ([]ExpectStream, error) {
	var list []ExpectStream
	if k.video != nil {
		list = append(list, p.lastingAs("video", *k.video))
		if p.length(*k.video) < 0 {
			return nil, fmt.Errorf("start_s (%s) is past the end of the input's picture (%s s)", plain(p.StartS), plain(k.video.StartS+k.video.DurationS))
		}
	}
	for _, a := range k.audio {
		list = append(list, p.lastingAs("audio", a))
		if k.video == nil && p.length(a) < 0 {
			return nil, fmt.Errorf("start_s (%s) is past the end of the input's sound (%s s)", plain(p.StartS), plain(a.StartS+a.DurationS))
		}
	}
	for range k.subtitles {
		list = append(list, ExpectStream{Kind: "subtitle"})
	}
	if k.timecode {
		list = append(list, ExpectStream{Kind: "timecode"})
	}
	return list, nil
}

func (p *transcodeParams) lastingAs(kind string, s InputStream) ExpectStream {
	e := lasting(kind, p.length(s), s.FPS)
	if p.DamagedInput == "accept" {
		e.MinS = 0
	}
	if p.StartS > 0 && (kind == "video" && p.VideoCodec == "copy" || kind == "audio" && p.AudioCodec == "copy") {
		e.MaxS = 0 // a copy begins at the key frame before start_s
	}
	return e
}

func (p *transcodeParams) outputLength(k picked) float64 {
	var end float64
	for _, s := range k.streams() {
		end = max(end, p.length(s)+max(0, s.StartS-p.StartS))
	}
	return end
}

// plainCodec keeps a name from ffprobe to letters, digits and underscores.
func plainCodec(name string) string {
	if !plainName.MatchString(name) {
		return "its format"
	}
	return name
}
