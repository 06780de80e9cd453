package media

import (
	"fmt"
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
// -1 dBTP: where a gain does it, and where peaks are in the way.
func TestAudio_Loudness(t *testing.T) {
	music := mediatest.Clip(t, "music.flac", "-f", "lavfi", "-i", "anoisesrc=c=pink:a=0.2:d=3:seed=3,aformat=channel_layouts=stereo", "-af", "tremolo=f=0.5:d=0.5")
	for _, c := range []struct {
		name, params, path string
		want               float64
	}{
		{"louder than the peaks allow", `{"loudness_lufs":-9,"codec":"pcm"}`, music, -9},
		{"speech", `{"preset":"podcast-m4a"}`, speech(t, 3), -16},
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

// Silence and a blink of sound have no loudness: they stay, with a word on it.
func TestAudio_WithoutLoudness(t *testing.T) {
	for name, source := range map[string]string{"silence": "anullsrc=d=1", "a blink": "sine=d=0.2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := right(t, "ffmpeg.audio", `{"preset":"podcast-m4a"}`, mediatest.Clip(t, "in.wav", "-f", "lavfi", "-i", source))
			if len(r.plan.Warnings) != 1 || !strings.Contains(r.plan.Warnings[0], "too short") {
				t.Errorf("warnings are %q", r.plan.Warnings)
			}
		})
	}
}

func TestAudio_FormatsChannelsAndRates(t *testing.T) {
	for _, c := range []struct{ sample, params, want string }{
		{"01_normal_h264_aac.mp4", `{}`, "m4a aac 48000 1 3"},
		{"07a_audio_24bit_96k.wav", `{"codec":"pcm","channels":1,"sample_rate":48000}`, "wav pcm_s24le 48000 1 2"},
		{"07c_surround51.flac", `{"channels":2,"bitrate":"96k"}`, "m4a aac 48000 2 1"},
		{"08_coverart.mp3", `{"channels":2,"sample_rate":22050}`, "m4a aac 22050 2 3"},
	} {
		t.Run(c.sample+c.params, func(t *testing.T) {
			path := sample(t, c.sample)
			t.Parallel()
			r := right(t, "ffmpeg.audio", c.params, path)
			a := r.stream(t, "audio")
			if got := fmt.Sprintf("%s %s %d %d %.0f", r.probed.Container, a.Codec, a.SampleRate, a.Channels, a.DurationS); got != c.want || len(r.seen.Streams) != 1 {
				t.Errorf("it is %s with %d streams, want %s", got, len(r.seen.Streams), c.want)
			}
		})
	}
}

func TestAudio_RefusesAndSaysWhyNot(t *testing.T) {
	for params, want := range map[string]string{
		`{"codec":"pcm","bitrate":"128k"}`: "params.bitrate",
		`{"sample_rate":44000}`:            "params.sample_rate",
		`{"sample_rate":192000}`:           "params.sample_rate",
		`{"loudness_lufs":0}`:              "params.loudness_lufs",
		`{"channels":7}`:                   "params.channels",
		`{"codec":"mp3"}`:                  "params.codec",
		`{"preset":"web-1080p"}`:           "params.preset",
	} {
		_, faults := catalogued(t, "ffmpeg.audio").Resolve([]byte(params))
		if len(faults) != 1 || faults[0].Location != want {
			t.Errorf("%s: %v", params, faults)
		}
	}
	if _, _, err := planService(t, "ffmpeg.audio", `{}`, sample(t, "03_vfr.mp4")); err == nil || err.Error() != "the input has no audio stream" {
		t.Error(err)
	}
}

// What a file calls itself is told at the level info as well: it is neither
// damage nor loudness.
func TestAudio_HostileNames(t *testing.T) {
	path := mediatest.Clip(t, "in.flac", "-f", "lavfi", "-i", "sine=d=1", "-metadata",
		"title=Error while decoding\n{\n\"input_i\" : \"-1\",\n\"input_tp\" : \"-1\"\n}\nheader missing")
	r := right(t, "ffmpeg.audio", `{"loudness_lufs":-20,"codec":"pcm"}`, path)
	got, _ := lufs(t, r.path)
	near(t, "LUFS", got, -20, 0.5)
}

func TestParseLoudness(t *testing.T) {
	block := func(i, tp string) []string {
		return []string{"[info] x", "{", `	"input_i" : "` + i + `",`, `	"input_tp" : "` + tp + `"`, "}"}
	}
	for _, c := range []struct {
		said []string
		ok   bool
	}{
		{block("-23.05", "-1.00"), true},
		{block("-inf", "-inf"), true},
		{append(block("5000", "0"), block("-20", "-3")...), true},
		{block("nan", "-1"), false},
		{block("inf", "-1"), false},
		{block("", "-1"), false},
		{block("-23", "")[:4], false},
		{nil, false},
		{[]string{"}", "{"}, false},
		{[]string{"{", `	"input_i" : -23`, "}"}, false},
	} {
		if l, err := parseLoudness(c.said); (err == nil) != c.ok {
			t.Errorf("%q: %+v %v", c.said, l, err)
		}
	}
}
