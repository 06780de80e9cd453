package media

import (
	"fmt"
	"slices"
	"strings"
)

// Input is one downloaded input: its absolute path, the demuxer that ffprobe
// found, and what it holds. Of a zip, Path is the folder that it was unpacked
// into, and Files what is in there, by slash-separated paths.
type Input struct {
	Path, Demuxer string
	Media         InputMedia
	Files         []string
}

// What a service may take as a zip: numbered images, or a bundle of Remotion's.
const (
	Frames = "frames"
	Bundle = "bundle"
)

// Remotion is the program of services that the user's own Remotion runs.
const Remotion = "remotion"

// Env is what the device can do, each thing proved by a test frame.
type Env struct {
	Encoders []string // by ffmpeg's names: libx264, h264_videotoolbox …
	Features []string // filters that not every ffmpeg has: drawtext, zscale
	Platform string   // "darwin", "linux"
	OutPath  string   // absolute
	CPUs     int
	Browser  string // absolute: what Remotion renders with
	Refused  bool   // VideoToolbox has refused these inputs
}

// hardware is the VideoToolbox encoder of a codec.
func (e Env) hardware(codec string) bool {
	return !e.Refused && e.Platform == "darwin" && slices.Contains(e.Encoders, codec+"_videotoolbox")
}

// filter is nil where the filter is there.
func (e Env) filter(name, purpose string) error {
	if slices.Contains(e.Features, name) {
		return nil
	}
	return fmt.Errorf("this device's ffmpeg has no %s filter, which %s needs; install ffmpeg-full there", name, purpose)
}

// Plan is one pass of ffmpeg over the inputs; most runs have only one.
type Plan struct {
	Program     string         // "" is ffmpeg, else one such as Remotion
	Args        []string       // argv after the program
	DurationS   float64        // of the output; 0 unknown: progress has no fraction then
	ExpectBytes int64          // a generous guess, for the check of free space
	Streams     []ExpectStream // what CheckOutput holds the result against
	Frames      int64          // of the picture, where they are counted; 0 is unknown
	Files       []File         // what the program reads beside the inputs
	Warnings    []string       // for commit: what was left out, or done another way

	// Next makes the pass after this one from the lines that this one wrote to
	// stderr; it is nil in the last, whose Streams and Warnings are the run's. A
	// plan without Args is the last and runs nothing: what there is will do.
	Next func(said []string) (Plan, error)
	// Upto is how much of the whole run is done after this pass; 0 is all of it.
	Upto float64
	// Software is what goes on in place of this pass, once, where its hardware
	// encoder refuses the file; nil where nothing else may or can encode it.
	Software *Plan
}

// InHardware tells a pass that encodes by VideoToolbox.
func (p Plan) InHardware() bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasSuffix(arg, "_videotoolbox") })
}

// File is written before the program starts; its path is absolute.
type File struct {
	Path    string
	Content []byte
}

// ExpectStream is one stream that the output must have, in the order of its
// kind. A MinS of 0 asks for no length, a MaxS of 0 allows any, and a still
// picture has none.
type ExpectStream struct {
	Kind     string
	MinS     float64
	MaxS     float64
	Still    bool
	Optional bool // it may be missing
}

// lasting allows the contract's slack: a quarter of a second or two frames.
func lasting(kind string, durationS, fps float64) ExpectStream {
	if durationS <= 0 {
		return ExpectStream{Kind: kind}
	}
	slack := slackS(fps)
	return ExpectStream{Kind: kind, MinS: max(0, durationS-slack), MaxS: durationS + slack}
}

func slackS(fps float64) float64 {
	if fps <= 0 {
		return 0.25
	}
	return max(0.25, 2/fps)
}
