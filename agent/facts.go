package agent

import (
	"context"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"rendermac/agentproto"
	"rendermac/media"
	"rendermac/program"
)

// Facts is what this machine is and can do. Encoders and features count only
// where a test frame went through them: what ffmpeg was built with says nothing
// of the hardware, nor of the fonts. Without an ffmpeg it is the machine alone.
func Facts(ctx context.Context, o Options) agentproto.Device {
	d := machineFacts(o)
	if o.FFmpeg == "" {
		return d
	}
	var sure bool
	d.Encoders, d.Features, sure = prove(ctx, o.FFmpeg)
	if o.Remotion.Command != "" {
		if _, err := ProveRemotion(ctx, o.Remotion); err == nil {
			d.Features = append(d.Features, media.Remotion)
		}
	}
	if o.DataDir != "" && sure {
		noteProofs(o, d)
	}
	return d
}

func machineFacts(o Options) agentproto.Device {
	return agentproto.Device{
		Platform: runtime.GOOS, Arch: runtime.GOARCH, Model: machineModel(), OSVersion: osVersion(),
		CPUs: runtime.NumCPU(), MemoryBytes: machineMemory(), FreeDiskBytes: freeBytes(o.WorkDir),
		Encoders: []string{}, Features: []string{},
	}
}

// prove sends every test frame, as many at once as there are cores. It is sure
// where none was given up: a machine that is busy now may do it later.
func prove(ctx context.Context, ffmpeg string) (encoders, features []string, sure bool) {
	proved, late := make([]bool, len(testFrames)), make([]bool, len(testFrames))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, t := range testFrames {
		group.Go(func() error {
			proved[i], late[i] = t.proved(ctx, ffmpeg)
			return nil
		})
	}
	group.Wait()
	encoders, features = []string{}, []string{}
	for i, t := range testFrames {
		if proved[i] && t.encoder != "" {
			encoders = append(encoders, t.encoder)
		}
		if proved[i] {
			features = append(features, t.features...)
		}
	}
	slices.Sort(features)
	return encoders, slices.Compact(features), !slices.Contains(late, true)
}

// testFrame is one thing that not every ffmpeg on every machine can do.
type testFrame struct {
	encoder  string // by ffmpeg's name
	sound    bool
	filter   string
	features []string // what jobs call it in their needs
}

var testFrames = []testFrame{
	{encoder: "libx264"},
	{encoder: "libx265", features: []string{"libx265", "hevc"}},
	{encoder: "prores_ks"},
	{encoder: "h264_videotoolbox", features: []string{"videotoolbox_h264"}},
	{encoder: "hevc_videotoolbox", features: []string{"videotoolbox_hevc", "hevc"}},
	{encoder: "prores_videotoolbox", features: []string{"videotoolbox_prores"}},
	{encoder: "aac", sound: true},
	{encoder: "alac", sound: true},
	{filter: "drawtext=text=x", features: []string{"drawtext"}},
	{filter: hdrToLinear, features: []string{"zscale"}},
}

// hdrToLinear is the part of tone-mapping that needs zscale. Without complete
// tags zscale finds no way to linear light.
const hdrToLinear = "format=yuv444p10le,setparams=range=tv:color_primaries=bt2020:color_trc=smpte2084:colorspace=bt2020nc," +
	"zscale=t=linear:npl=100,format=gbrpf32le,tonemap=hable"

const testFrameTime = 20 * time.Second

func (t testFrame) proved(ctx context.Context, ffmpeg string) (ok, late bool) {
	ctx, cancel := context.WithTimeout(ctx, testFrameTime)
	defer cancel()
	args := []string{"-nostdin", "-hide_banner", "-loglevel", "error", "-f", "lavfi"}
	switch {
	case t.sound:
		args = append(args, "-i", "anullsrc=d=0.1", "-c:a", t.encoder)
	case t.filter != "":
		args = append(args, "-i", testPicture, "-frames:v", "1", "-vf", t.filter)
	default:
		args = append(args, "-i", testPicture, "-frames:v", "1", "-c:v", t.encoder)
	}
	err := program.Run(ctx, program.Command(os.TempDir(), ffmpeg, append(args, "-f", "null", "-")), time.Second)
	return err == nil, ctx.Err() != nil
}

const testPicture = "color=s=640x360:r=25"
