package media

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// reel is several films as one: what each lasts in it, to the frame and to the
// sample, so that sound and picture cannot drift apart however many there are.
type reel struct {
	p     *transcodeParams
	clips []clip
	film  InputMedia // as if the reel were one file
	sound sound
}

// clip is one input in the reel. Its picture is counted in frames and its sound
// in samples; endS is how long it has either.
type clip struct {
	m       *InputMedia
	video   InputStream
	audio   *InputStream // nil is silence
	endS    float64
	frames  int64
	samples int64
}

// sound is what all of the reel's sound is brought to; without a rate there is none.
type sound struct {
	rate   int
	layout string
	like   InputStream // the first input's that has any
}

// reelOf lays the inputs out. The first gives the shape.
func (p *transcodeParams) reelOf(in []*InputMedia) (*reel, error) {
	r := &reel{p: p}
	for i, m := range in {
		c := clip{m: m}
		videos := m.of("video")
		switch {
		case len(videos) == 0:
			return nil, fmt.Errorf("input %d has no video stream", i+1)
		case videos[0].Codec == "" || videos[0].Codec == "unknown":
			return nil, fmt.Errorf("the picture of input %d is in a format that ffmpeg does not know", i+1)
		case videos[0].DurationS <= 0:
			return nil, fmt.Errorf("how long the picture of input %d lasts cannot be told", i+1)
		}
		c.video = videos[0]
		if audios := m.of("audio"); len(audios) > 0 && p.AudioCodec != "none" {
			c.audio = &audios[0]
		}
		r.clips = append(r.clips, c)
	}
	if len(r.clips) == 0 {
		return nil, errors.New("there is no input")
	}
	if err := r.checkRange(); err != nil {
		return nil, err
	}
	r.chooseSound()
	r.measure()
	return r, nil
}

// checkRange refuses to guess how bright SDR is meant to be beside HDR.
func (r *reel) checkRange() error {
	first := r.clips[0]
	keeps := r.p.keepsFirstHDR(first.m)
	for i, c := range r.clips {
		switch {
		case keeps && c.video.Transfer != first.video.Transfer:
			return fmt.Errorf("input 1 is HDR (%s) and input %d is not of its kind: only h264 with tonemap auto, which makes the whole film SDR, joins them", first.video.Transfer, i+1)
		case !keeps && c.video.hdr() && r.p.Tonemap == "off":
			return fmt.Errorf("input %d is HDR and input 1 is not: set tonemap to auto", i+1)
		}
	}
	return nil
}

func (r *reel) chooseSound() {
	i := slices.IndexFunc(r.clips, func(c clip) bool { return c.audio != nil })
	if i < 0 {
		return
	}
	r.sound.like = *r.clips[i].audio
	r.sound.layout, _ = r.p.layout(r.sound.like)
	r.sound.rate = min(max(r.sound.like.SampleRate, 8000), r.p.highestRate())
}

// measure gives each clip whole frames. It lasts as long as its picture; sound
// that goes on for longer keeps the last picture standing, unless it is no more
// than the padding that encoders add.
func (r *reel) measure() {
	fps := r.rate()
	var frames, samples int64
	for i := range r.clips {
		c := &r.clips[i]
		c.endS = c.video.StartS + c.video.DurationS
		if c.audio != nil && c.audio.StartS+c.audio.DurationS > c.endS+2/fps {
			c.endS = c.audio.StartS + c.audio.DurationS
		}
		c.frames = max(1, int64(math.Round(c.endS*fps)))
		frames += c.frames
		c.samples = int64(math.Round(float64(frames)/fps*float64(r.sound.rate))) - samples
		samples += c.samples
	}
	r.film = r.asFilm(fps, frames)
}

// rate is the first input's, or what the params say. Frames of a variable rate
// are spaced evenly, as many a second as it has on average.
func (r *reel) rate() float64 {
	first := r.clips[0].video
	switch {
	case r.p.FPS > 0:
		return exactRate(r.p.FPS)
	case first.Variable || first.FPS <= 0:
		return min(120, max(1, math.Round(first.FPS)))
	}
	return exactRate(min(240, first.FPS))
}

// asFilm is what ffprobe would say of the reel as a file of the first one's kind.
func (r *reel) asFilm(fps float64, frames int64) InputMedia {
	v := r.clips[0].video
	v.Index, v.StartS, v.DurationS, v.Frames, v.FPS, v.Variable, v.FieldOrder = 0, 0, float64(frames)/fps, frames, fps, false, "progressive"
	if !r.p.keepsFirstHDR(r.clips[0].m) {
		v.Primaries, v.Transfer, v.Matrix = "bt709", "bt709", "bt709"
	}
	film := InputMedia{Format: "mov", DurationS: v.DurationS, Timecode: r.clips[0].m.Timecode, Streams: []InputStream{v}}
	for _, c := range r.clips {
		film.Bytes += c.m.Bytes
	}
	if r.sound.rate > 0 {
		a := r.sound.like
		a.Index, a.StartS, a.DurationS, a.SampleRate = 1, 0, v.DurationS, r.sound.rate
		film.Streams = append(film.Streams, a)
	}
	return film
}

// count is how many frames the result has; 0 where it need not have them all.
func (r *reel) count() int64 {
	if r.p.StartS > 0 || r.p.DurationS > 0 || r.p.DamagedInput == "accept" {
		return 0
	}
	return r.film.Streams[0].Frames
}
