package media

import (
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// remotionParams is remotion.render's whole vocabulary.
type remotionParams struct {
	Composition string          `json:"composition,omitempty" required:"" pattern:"^[A-Za-z0-9一-鿿][A-Za-z0-9一-鿿-]{0,199}$" form:"a composition's id: letters, digits and - only" help:"the id of the composition to render"`
	Props       json.RawMessage `json:"props,omitempty" help:"the input props, any JSON object up to 256 KiB; they go over the composition's default props"`
	Codec       string          `json:"codec,omitempty" enum:"h264,hevc,prores" default:"h264" help:"what the picture is encoded as; h264 and hevc come in mp4, prores (HQ) in mov"`
	Scale       float64         `json:"scale,omitempty" min:"0.05" max:"16" help:"multiplies width and height of the picture; 1 where it is not given"`
	Concurrency int             `json:"concurrency,omitempty" min:"1" max:"256" help:"how many browser tabs render at once, at most one for each core of the device; half of its cores, up to 8, where it is not given"`
	FrameRange  string          `json:"frame_range,omitempty" pattern:"^[0-9]{1,8}-([0-9]{1,8})?$" form:"like 0-99, or 100- for all that follow" help:"the first and the last frame to render, such as 0-99 counted from 0, or 100- to the end; all of them where it is not given"`
}

var _ = define(definition[remotionParams]{
	name: "remotion.render", title: "Render a composition of a Remotion bundle",
	minInputs: 1, maxInputs: 1,
	program: Remotion, archive: Bundle,
	settle: settleRemotion,
	needs:  func(*remotionParams, []*InputMedia) []string { return []string{} },
	output: (*remotionParams).file,
	plan:   planRemotion,
	expect: expectRemotion,
})

func settleRemotion(p *remotionParams, _ paramSet) []Fault {
	if first, last, closed := p.frames(); closed && last < first {
		return []Fault{{"params.frame_range", "ends before it begins"}}
	}
	return nil
}

// frames reads frame_range; one that is not closed goes on to the end.
func (p *remotionParams) frames() (first, last int64, closed bool) {
	from, to, _ := strings.Cut(p.FrameRange, "-")
	first, _ = strconv.ParseInt(from, 10, 64)
	last, err := strconv.ParseInt(to, 10, 64)
	return first, last, err == nil
}

// count is how many frames there must be, 0 where that hangs on the composition.
func (p *remotionParams) count() int64 {
	first, last, closed := p.frames()
	if !closed {
		return 0
	}
	return last - first + 1
}

func (p *remotionParams) file() Output {
	if p.Codec == "prores" {
		return Output{Ext: "mov", ContentType: "video/quicktime"}
	}
	return Output{Ext: "mp4", ContentType: "video/mp4"}
}

// settles is how long a composition may wait for what it loads (delayRender),
// in milliseconds: Remotion's own default, whatever a config file says.
const settles = 30_000

// planRemotion is the command line after the user's own Remotion. What comes
// from the job is a name that cannot be taken for an option, or a number; props
// go by a file.
func planRemotion(p *remotionParams, in []Input, env Env) (Plan, error) {
	bundle, err := bundleRoot(in[0])
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{
		Frames: p.count(), ExpectBytes: 1 << 30,
		Streams: []ExpectStream{{Kind: "video"}, {Kind: "audio", Optional: true}},
	}
	out := env.OutPath
	if p.Codec == "hevc" {
		out = filepath.Join(filepath.Dir(env.OutPath), "rendered.mp4")
		plan.Next = func([]string) (Plan, error) { return retag(plan, out, env.OutPath), nil }
	}
	plan.Args = []string{
		"render", bundle, p.Composition, out, "--browser-executable=" + env.Browser,
		"--concurrency=" + strconv.Itoa(p.tabs(env.CPUs)),
	}
	if len(p.Props) > 0 {
		props := filepath.Join(filepath.Dir(env.OutPath), "props.json")
		plan.Args = append(plan.Args, "--props="+props)
		plan.Files = []File{{props, p.Props}}
	}
	codec := p.Codec
	switch codec {
	case "hevc":
		codec = "h265"
	case "prores":
		plan.ExpectBytes *= 4 // all frames lie on the disk before they are encoded
	}
	plan.Args = append(plan.Args, "--codec="+codec, "--color-space=bt709", "--timeout="+strconv.Itoa(settles))
	if p.Scale > 0 {
		plan.Args = append(plan.Args, "--scale="+plain(p.Scale))
	}
	if p.FrameRange != "" {
		plan.Args = append(plan.Args, "--frames="+p.FrameRange)
	}
	return plan, nil
}

// retag copies the film that Remotion made into one that QuickTime opens: it tags
// HEVC as hev1, and Apple's players take hvc1 only.
func retag(plan Plan, from, to string) Plan {
	args := append(quietly("warning"), guarded(from, "mov")...)
	return Plan{
		Frames: plan.Frames, ExpectBytes: plan.ExpectBytes, Streams: plan.Streams,
		Args: append(args, "-map", "0:v", "-map", "0:a?", "-c", "copy", "-tag:v", "hvc1", "-movflags", "+faststart", "-f", "mp4", "file:"+to),
	}
}

// tabs keeps within the cores, beyond which Remotion refuses to go.
func (p *remotionParams) tabs(cpus int) int {
	wanted := p.Concurrency
	if wanted == 0 {
		wanted = min(8, cpus/2)
	}
	return max(1, min(wanted, cpus))
}

// bundleRoot is the folder with index.html: the zip's top, or the one folder in
// it that was zipped. Without that file Remotion would take what it finds for
// source code, and run it outside the browser.
func bundleRoot(in Input) (string, error) {
	if slices.Contains(in.Files, "index.html") {
		return in.Path, nil
	}
	var found []string
	for _, name := range in.Files {
		dir, file := path.Split(name)
		if file == "index.html" && strings.Count(dir, "/") == 1 && dir != "__MACOSX/" {
			found = append(found, dir)
		}
	}
	if len(found) != 1 {
		return "", errors.New("the zip holds no Remotion bundle: there is no index.html at its top; zip the folder that remotion bundle makes")
	}
	return filepath.Join(in.Path, found[0]), nil
}

// expectRemotion knows the number of frames where the params say it, else by
// the agent's word: the composition decides, and only the browser can read it.
func expectRemotion(p *remotionParams, in []*InputMedia) Expectation {
	v := &ExpectVideo{Codec: p.Codec, Frames: p.count(), Encoded: p.Codec != "prores"}
	e := Expectation{Container: p.file().Ext, Video: v, Audio: "aac"}
	switch p.Codec {
	case "h264":
		v.Tags, v.BitDepth = []string{"avc1"}, 8
	case "hevc":
		v.Tags, v.BitDepth = []string{"hvc1"}, 8
	case "prores":
		v.Tags, e.Audio = []string{"apch"}, "pcm"
	}
	if len(in) > 0 && in[0] != nil && v.Frames == 0 {
		if videos := in[0].of("video"); len(videos) > 0 {
			v.Frames = videos[0].Frames
		}
	}
	return e
}
