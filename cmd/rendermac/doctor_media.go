package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"rendermac/agent"
)

// needs are what services ask of an ffmpeg: one of any is enough. What is
// optional costs only some params.
var needs = []struct {
	what     string
	any      []string
	optional string // what is missing without it
}{
	{"H.264", []string{"libx264", "h264_videotoolbox"}, ""},
	{"AAC", []string{"aac"}, ""},
	{"ProRes", []string{"prores_ks", "prores_videotoolbox"}, ""},
	{"HEVC", []string{"libx265", "hevc_videotoolbox"}, "video_codec hevc"},
	{"drawtext", []string{"drawtext"}, "burn_timecode"},
	{"zscale", []string{"zscale"}, "tonemap of HDR sources"},
}

// ffmpeg proves each need by a test frame: what was built in may still not run.
func (d *doctor) ffmpeg(ctx context.Context) {
	ffmpeg, ffprobe, err := findFFmpeg(d.c)
	if err != nil {
		d.fail("ffmpeg", err.Error(), "")
		return
	}
	said, err := exec.CommandContext(ctx, ffmpeg, "-version").Output()
	if err != nil {
		d.fail("ffmpeg", fmt.Sprintf("%s does not run (%v)", ffmpeg, err), "install it anew with "+installFFmpeg())
		return
	}
	first, _, _ := strings.Cut(string(said), " Copyright")
	d.ok("ffmpeg", fmt.Sprintf("%s, %s", ffmpeg, first))
	facts := agent.Facts(ctx, agent.Options{FFmpeg: ffmpeg, FFprobe: ffprobe, Remotion: agent.Remotion(d.c.Agent.Remotion), WorkDir: d.c.Data, DataDir: d.c.Data, Version: version})
	can := append(facts.Encoders, facts.Features...)
	for _, need := range needs {
		has := slices.IndexFunc(need.any, func(name string) bool { return slices.Contains(can, name) })
		switch {
		case has >= 0:
			d.ok("ffmpeg", need.what+" works, through "+need.any[has])
		case need.optional != "":
			d.warn("ffmpeg", "no "+need.what+": jobs with "+need.optional+" go to other devices", "install "+fullFFmpeg())
		default:
			d.fail("ffmpeg", "no "+need.what, "install "+fullFFmpeg())
		}
	}
}

func fullFFmpeg() string {
	if runtime.GOOS == "darwin" {
		return "the fuller one with brew install ffmpeg-full"
	}
	return "an ffmpeg that has it"
}

// remotion is asked for only where the config names one.
func (d *doctor) remotion(ctx context.Context) {
	m := agent.Remotion(d.c.Agent.Remotion)
	if m.Command == "" {
		d.ok("remotion", "not set up: jobs with remotion.render go to devices where agent.remotion.command and agent.remotion.browser are set")
		return
	}
	found, err := agent.ProveRemotion(ctx, m)
	if err != nil {
		d.fail("remotion", err.Error(), "mend it, or remove agent.remotion, then restart the agent")
		return
	}
	d.ok("remotion", found)
}

// sleep checks that an idle Mac stays awake for the next job.
func (d *doctor) sleep(ctx context.Context) {
	if runtime.GOOS != "darwin" {
		return
	}
	if _, err := exec.LookPath("caffeinate"); err != nil {
		d.fail("sleep", "caffeinate is missing, so runs cannot keep this Mac awake", "put /usr/bin on PATH")
		return
	}
	settings, err := exec.CommandContext(ctx, "pmset", "-g").Output()
	if err != nil {
		d.warn("sleep", "the sleep settings cannot be read", "look at System Settings, Energy")
		return
	}
	if minutes := sleepMinutes(string(settings)); minutes > 0 {
		d.warn("sleep", fmt.Sprintf("this Mac sleeps after %d idle minutes and then takes no jobs", minutes), "sudo pmset -a sleep 0")
		return
	}
	d.ok("sleep", "this Mac stays awake")
}

// sleepMinutes reads the line `sleep 10 (…)` of pmset -g; 0 is never.
func sleepMinutes(settings string) int {
	for line := range strings.Lines(settings) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "sleep" {
			minutes, _ := strconv.Atoi(fields[1]) // a word is no number of minutes
			return minutes
		}
	}
	return 0
}
