package media

import (
	"math"
	"slices"
	"strconv"
)

func planTranscode(p *transcodeParams, in []Input, env Env) (Plan, error) {
	m := &in[0].Media
	k, err := p.pick(m)
	if err != nil {
		return Plan{}, err
	}
	streams, err := p.expectStreams(k)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Streams: streams, Warnings: k.warnings, DurationS: p.outputLength(k)}
	for _, s := range k.audio {
		if layout, _ := p.layout(s); p.VideoCodec != "h264" && p.audioCodec(s) == "aac" { // beside h264 stereo is the promise
			plan.Warnings = append(plan.Warnings, s.fewer(layout)...)
		}
	}
	if p.fallsBack(env) {
		plan.Warnings = append(plan.Warnings, "encoded in software: this Mac has no hardware encoder for "+p.VideoCodec)
	}
	plan.Args = quietly("warning")
	plan.Args = append(plan.Args, p.cutInput(in[0])...)
	video, err := p.videoArgs(k, *m, env)
	if err != nil {
		return Plan{}, err
	}
	audio, err := p.audioArgs(k)
	if err != nil {
		return Plan{}, err
	}
	plan.Args = append(append(append(plan.Args, video...), audio...), p.muxArgs(k, *m)...)
	plan.Args = append(plan.Args, "file:"+env.OutPath)
	plan.ExpectBytes = p.expectBytes(k, *m, plan.DurationS)
	return plan, nil
}

// cutInput seeks before it opens an indexed input. One without an index would be
// entered in the middle of a packet or between key frames, with decode errors;
// there the cut is an option of the output, and everything before it is decoded.
func (p *transcodeParams) cutInput(in Input) []string {
	if in.Media.unindexed() {
		return append(in.opened(), p.window()...)
	}
	return append(p.window(), in.opened()...)
}

func (m *InputMedia) unindexed() bool {
	return slices.Contains([]string{"mpegts", "mpeg", "mpegvideo", "h264", "hevc", "m4v", "vc1", "obu"}, m.Demuxer())
}

func (p *transcodeParams) window() (args []string) {
	if p.StartS > 0 {
		args = append(args, "-ss", plain(p.StartS))
	}
	if p.DurationS > 0 {
		args = append(args, "-t", plain(p.DurationS))
	}
	return args
}

func (p *transcodeParams) muxArgs(k picked, m InputMedia) []string {
	var args []string
	for _, s := range k.subtitles {
		args = append(args, "-map", "0:"+strconv.Itoa(s.Index))
	}
	if len(k.subtitles) > 0 {
		args = append(args, "-c:s", "mov_text")
	}
	args = append(args, "-dn")
	switch {
	case k.timecode && m.Timecode != "":
		args = append(args, "-timecode", p.startTimecode(m, k.video.FPS))
	case !k.timecode:
		args = append(args, "-write_tmcd", "0")
	}
	if k.video != nil {
		// Chapters become a track of their own, which belongs to podcasts only.
		args = append(args, "-map_chapters", "-1")
	}
	if p.Container != "mov" {
		args = append(args, "-movflags", "+faststart")
	}
	return append(args, "-f", map[string]string{"mp4": "mp4", "mov": "mov", "m4a": "ipod"}[p.Container])
}

// expectBytes errs on the large side: it guards the disk.
func (p *transcodeParams) expectBytes(k picked, m InputMedia, lengthS float64) int64 {
	if p.VideoCodec == "copy" || lengthS <= 0 {
		return m.Bytes + m.Bytes/10 + 1<<20
	}
	bits := p.pictureBits(k)
	for _, a := range k.audio {
		bits += float64(max(a.Channels, 2)) * 160_000
		if p.AudioCodec != "aac" {
			bits += float64(a.Channels*a.SampleRate) * 32
		}
	}
	return int64(math.Ceil(bits*lengthS/8)) + 1<<20
}

// pictureBits is a guess of bits a second.
func (p *transcodeParams) pictureBits(k picked) float64 {
	if k.video == nil {
		return 0
	}
	if p.VideoBitrate > 0 {
		return float64(p.VideoBitrate) * 1.2
	}
	w, h := p.size(*k.video)
	perPixel := map[string]float64{"h264": 0.25, "hevc": 0.2, "prores": 3}[p.VideoCodec]
	if p.VideoCodec != "prores" {
		perPixel *= max(1, math.Exp2(0.075*float64(p.Quality-65)))
	}
	return float64(w*h) * perPixel * max(p.FPS, min(k.video.FPS, 240), 1)
}
