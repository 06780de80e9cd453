package media

import (
	"fmt"
	"strconv"
	"strings"
)

func planConcat(p *transcodeParams, in []Input, env Env) (Plan, error) {
	medias := make([]*InputMedia, len(in))
	for i := range in {
		medias[i] = &in[i].Media
	}
	r, err := p.reelOf(medias)
	if err != nil {
		return Plan{}, err
	}
	k, err := p.pick(&r.film)
	if err != nil {
		return Plan{}, err
	}
	streams, err := p.expectStreams(k)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Streams: streams, Frames: r.count(), Warnings: r.warnings(env), DurationS: p.outputLength(k)}
	graph, err := r.graph(env)
	if err != nil {
		return Plan{}, err
	}
	encoder, err := p.encoderArgs(*k.video, env)
	if err != nil {
		return Plan{}, err
	}
	plan.Args = quietly("warning")
	for _, one := range in {
		plan.Args = append(append(plan.Args, "-threads", threadsFor(len(in))), guarded(one.Path, one.Demuxer)...)
	}
	plan.Args = append(append(plan.Args, "-filter_complex", graph, "-map", "[v]"), encoder...)
	plan.Args = append(append(plan.Args, p.tagStream(*k.video)...), "-fps_mode", "vfr")
	plan.Args = append(plan.Args, r.soundArgs()...)
	plan.Args = append(append(plan.Args, p.window()...), p.muxArgs(k, r.film)...)
	plan.Args = append(plan.Args, "file:"+env.OutPath)
	plan.ExpectBytes = p.expectBytes(k, r.film, plan.DurationS)
	return plan, nil
}

// threadsFor bounds what all decoders hold together: each is opened at the start
// and holds as many pictures as it has threads, long before its turn comes.
func threadsFor(inputs int) string { return strconv.Itoa(max(1, 16/inputs)) }

// warnings tell what a buyer would not expect.
func (r *reel) warnings(env Env) (list []string) {
	if r.p.fallsBack(env) {
		list = append(list, "encoded in software: this Mac has no hardware encoder for "+r.p.VideoCodec)
	}
	var silent []string
	for i, c := range r.clips {
		if c.audio == nil && r.sound.rate > 0 {
			silent = append(silent, strconv.Itoa(i+1))
		}
	}
	if len(silent) > 0 {
		list = append(list, "silence stands where an input has no sound: "+strings.Join(silent, ", "))
	}
	return list
}

// graph brings every input to one shape and one length, and joins picture and
// sound apart: concat would otherwise fill up one of them in silence where it
// ends early, and hide what is missing.
func (r *reel) graph(env Env) (string, error) {
	var chains []string
	pictures, sounds := "", ""
	for i, c := range r.clips {
		picture, err := r.picture(i, c, env)
		if err != nil {
			return "", err
		}
		chains = append(chains, fmt.Sprintf("[%d:%d]%s[v%d]", i, c.video.Index, picture, i))
		pictures += fmt.Sprintf("[v%d]", i)
		if r.sound.rate > 0 {
			chains = append(chains, fmt.Sprintf("%s[a%d]", r.soundOf(i, c), i))
			sounds += fmt.Sprintf("[a%d]", i)
		}
	}
	whole := fmt.Sprintf("concat=n=%d:v=1:a=0", len(r.clips))
	if r.p.BurnTimecode {
		if err := env.filter("drawtext", "burn_timecode"); err != nil {
			return "", err
		}
		whole += "," + r.timecode()
	}
	chains = append(chains, pictures+whole+"[v]")
	if r.sound.rate > 0 {
		chains = append(chains, fmt.Sprintf("%sconcat=n=%d:v=0:a=1[a]", sounds, len(r.clips)))
	}
	return strings.Join(chains, ";"), nil
}

// timecode counts from the first frame of the reel, even where a cut follows.
func (r *reel) timecode() string {
	whole := *r.p
	whole.StartS = 0
	v := r.film.Streams[0]
	_, h := r.p.size(v)
	return timecodeFilter(whole.burntTimecode(r.film, v.FPS), v.FPS, h)
}
