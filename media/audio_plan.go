package media

import (
	"fmt"
	"strconv"
	"strings"
)

// recording is one run of ffmpeg.audio.
type recording struct {
	p       *audioParams
	in      Input
	sound   InputStream
	streams []ExpectStream
	env     Env
	bytes   int64
	fewer   []string // a warning where channels are lost unasked
}

func planAudio(p *audioParams, in []Input, env Env) (Plan, error) {
	m := &in[0].Media
	k, err := p.track().pick(m)
	if err != nil {
		return Plan{}, err
	}
	r := &recording{p: p, in: in[0], sound: k.audio[0], env: env}
	if r.sound.Codec == "" || r.sound.Codec == "unknown" {
		return Plan{}, fmt.Errorf("the input's sound is in a format that ffmpeg does not know")
	}
	if r.streams, err = p.track().expectStreams(k); err != nil {
		return Plan{}, err
	}
	r.bytes = r.expectBytes()
	if layout, _ := p.track().layout(r.sound); p.Channels == 0 && p.Codec != "pcm" {
		r.fewer = r.sound.fewer(layout)
	}
	if p.LoudnessLUFS == 0 {
		return r.write(nil), nil
	}
	return r.measure(), nil
}

// write is the pass that makes the file; gain are the filters of loudness.
func (r *recording) write(gain []string) Plan {
	filters := append(r.shaped(), gain...)
	if rate := r.rate(); rate > 0 {
		filters = append(filters, "aresample="+strconv.Itoa(rate))
	}
	args := append(quietly("warning"), r.reads(filters)...)
	args = append(args, r.encoder()...)
	return Plan{Args: append(args, "file:"+r.env.OutPath), DurationS: r.length(), ExpectBytes: r.bytes, Streams: r.streams, Warnings: r.fewer}
}

func (r *recording) reads(filters []string) []string {
	return append(guarded(r.in.Path, r.in.Demuxer), "-map", "0:"+strconv.Itoa(r.sound.Index), "-vn", "-sn", "-dn", "-af", strings.Join(filters, ","))
}

func (r *recording) length() float64 { return r.sound.StartS + max(0, r.sound.DurationS) }

// shaped is the sound as it will be, but for loudness and rate. Gaps in the time
// stamps become silence, since nothing else keeps their place.
func (r *recording) shaped() []string { return []string{"aresample=async=1", r.channels()} }

// channels makes the layout: what was asked for, or what the codec takes.
func (r *recording) channels() string {
	layouts := []string{"mono", "stereo", "3.0", "4.0", "5.0", "5.1"}
	unnamed := r.sound.Layout == "" || r.sound.Layout == "unknown" || r.sound.Channels > 8
	switch n := r.p.Channels; {
	case n == 0 && r.p.Codec == "pcm" && !unnamed:
		return "anull"
	case n == 0:
		_, filter := r.p.track().layout(r.sound)
		return filter
	case n == 2 && r.sound.Channels == 1:
		return "channelmap=0|0:stereo" // swresample would play a single channel 3 dB softer
	case n == 2 && r.sound.Channels > 2 && unnamed:
		return "channelmap=0|1:stereo"
	default:
		return "aformat=channel_layouts=" + layouts[n-1]
	}
}

// rate is the output's: what was asked for, or the source's, which filters may
// have left and which aac may not take.
func (r *recording) rate() int {
	switch {
	case r.p.SampleRate > 0:
		return r.p.SampleRate
	case r.p.Codec == "aac" && r.sound.SampleRate > 96_000:
		return 96_000
	}
	return r.sound.SampleRate
}

func (r *recording) encoder() []string {
	layout, _ := r.p.track().layout(r.sound)
	if r.p.Channels > 0 {
		layout = map[int]string{1: "mono", 2: "stereo"}[r.p.Channels]
	}
	switch r.p.Codec {
	case "aac":
		return append([]string{"-c:a", "aac", "-b:a", r.p.track().trackBitrate(layout)}, m4a...)
	case "alac":
		return append([]string{"-c:a", "alac"}, m4a...)
	}
	return []string{"-c:a", r.p.track().pcm(r.sound), "-f", "wav", "-rf64", "auto"}
}

var m4a = []string{"-movflags", "+faststart", "-f", "ipod"}

// expectBytes errs on the large side, as a plan's must.
func (r *recording) expectBytes() int64 {
	channels, rate := max(r.p.Channels, r.sound.Channels, 2), max(r.rate(), 48_000)
	if r.length() <= 0 {
		return r.in.Media.Bytes*20 + 1<<20
	}
	bytes := r.length() * float64(channels*rate) * 4
	if r.p.Codec == "aac" {
		bytes = r.length() * max(float64(r.p.Bitrate), float64(channels)*192_000) / 8
	}
	return int64(bytes) + 1<<20
}
