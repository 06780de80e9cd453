package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
	raw, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=width,height", "-of", "json", filepath.Join(h.home, "out.mp4")).Output()
	if err != nil {
		t.Fatal(err)
	}
	var seen struct{ Streams []struct{ Width, Height int } }
	if err := json.Unmarshal(raw, &seen); err != nil || len(seen.Streams) != 1 || seen.Streams[0].Width != 64 || seen.Streams[0].Height != 48 {
		t.Errorf("the result is %s", raw)
	}
}
