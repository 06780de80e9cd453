package media

import (
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// lufs is the loudness and the true peak of a file, by ffmpeg's ebur128.
func lufs(tb testing.TB, path string) (integrated, peak float64) {
	tb.Helper()
	out, err := exec.Command("ffmpeg", "-hide_banner", "-nostats", "-i", "file:"+path, "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-").CombinedOutput()
	_, summary, found := strings.Cut(string(out), "Summary:")
	if err != nil || !found {
		tb.Fatalf("%v\n%s", err, out)
	}
	after := func(label string) float64 {
		_, rest, _ := strings.Cut(summary, label)
		return seconds(strings.Fields(rest)[0])
	}
	return after("I:"), after("Peak:")
}

// speech is sound with a wide gap between its mean and its peaks: noise in
// bursts, with a click in each.
func speech(tb testing.TB, seconds float64) string {
	tb.Helper()
	return mediatest.Clip(tb, "speech.wav", "-f", "lavfi", "-i", fmt.Sprintf(
		"aevalsrc='0.02*random(0)*sin(2*PI*220*t)*(1+sin(2*PI*1.5*t))+0.9*lt(mod(t\\,0.7)\\,0.0004)|0.03*random(1)*sin(2*PI*330*t)':d=%v:s=48000", seconds))
}

// The result has the loudness that was asked for, and its true peaks under
// -1 dBTP: where a gain does it, where peaks are in the way, and beside a film.
func TestAudio_Loudness(t *testing.T) {
	music := mediatest.Clip(t, "music.flac", "-f", "lavfi", "-i", "anoisesrc=c=pink:a=0.2:d=6:seed=3,aformat=channel_layouts=stereo", "-af", "tremolo=f=0.5:d=0.5")
	for _, c := range []struct {
		name, params, path string
		want               float64
	}{
		{"softer", `{"loudness_lufs":-30,"codec":"pcm"}`, music, -30},
		{"podcast", `{"preset":"podcast-m4a"}`, music, -16},
		{"louder than the peaks allow", `{"loudness_lufs":-9,"codec":"alac"}`, music, -9},
		{"speech", `{"preset":"podcast-m4a"}`, speech(t, 8), -16},
		{"short", `{"loudness_lufs":-20,"codec":"pcm"}`, speech(t, 1.5), -20},
		{"a film, mono, 44100", `{"loudness_lufs":-18,"channels":1,"sample_rate":44100}`, sample(t, "01_normal_h264_aac.mp4"), -18},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := right(t, "ffmpeg.audio", c.params, c.path)
			integrated, peak := lufs(t, r.path)
			t.Logf("%.1f LUFS, %.1f dBTP", integrated, peak)
			near(t, "LUFS", integrated, c.want, 0.5)
			if peak > -1 {
				t.Errorf("the true peak is %.1f dBTP", peak)
			}
			if r.passes < 2 || r.seen.Streams[0].SampleRate > 48_000 {
				t.Errorf("%d passes, %d Hz", r.passes, r.seen.Streams[0].SampleRate)
			}
		})
	}
}

var _ = binary.BigEndian
var _ = math.Abs
