package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// excludeEachOther submits what cannot be, and demands to hear of it before the upload.
func (h *house) excludeEachOther() {
	h.Helper()
	for flags, want := range map[string]string{
		"--preset prores-422 -p container=mp4":                       "-p container prores fits into mov only",
		"--preset review -p video_codec=copy":                        "-p width needs the picture to be encoded; video_codec is copy",
		"--service ffmpeg.thumbnail -p at_s=1 -p at_fraction=0.5":    "-p at_fraction excludes at_s; give one of the two",
		"--service ffmpeg.audio -p codec=pcm -p bitrate=128k":        "-p bitrate applies to aac only",
		"--service ffmpeg.audio -p codec=aac -p sample_rate=12345":   "-p sample_rate must be one of",
		"--service ffmpeg.audio -p codec=aac -p bitrate=lots --wait": "-p bitrate must be bits per second",
	} {
		t := h.open("exec rendermac submit in.mov " + flags + " 2>&1")
		<-t.ended
		if said, code := t.out.String(), t.cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(said, want) || strings.Contains(said, "uploading") {
			h.Errorf("%s: exit code %d: %s", flags, code, said)
		}
	}
}

// A studio's own preset is offered, and made by a Mac whose config does not have it.
func TestPresetsOfAStudioOwn(t *testing.T) {
	h := newHouse(t)
	h.run(`mkdir -p .local/share/rendermac mac
		printf 'presets:\n  review: {title: For review, width: 64, height: 64, audio_codec: none}\n' > .local/share/rendermac/config.yaml`)
	h.serve("")
	if listed := h.run("rendermac services"); !strings.Contains(listed, "review") {
		t.Errorf("it lists\n%s", listed)
	}
	if shown := h.run("rendermac services ffmpeg.transcode"); !strings.Contains(shown, "For review") {
		t.Errorf("it shows\n%s", shown)
	}
	h.open("$(rendermac devices pair) --data mac\nexec rendermac agent --data mac")
	h.run(`ffmpeg -v error -f lavfi -i testsrc2=s=128x96:d=0.4 -f lavfi -i sine=d=0.4 -preset ultrafast -pix_fmt yuv420p in.mov
		rendermac submit in.mov --preset review --wait -o out.mp4`)
	h.excludeEachOther()
	raw, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "json", filepath.Join(h.home, "out.mp4")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var seen struct{ Streams []struct{ Width, Height int } }
	if err := json.Unmarshal(raw, &seen); err != nil || len(seen.Streams) != 1 || seen.Streams[0].Width != 64 || seen.Streams[0].Height != 48 {
		t.Errorf("the result is %s", raw)
	}
}
