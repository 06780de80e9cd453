package media

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// half is the first part of a file, as a broken download leaves it.
func half(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	cut := filepath.Join(tb.TempDir(), "half")
	if err := os.WriteFile(cut, data[:len(data)/2], 0o600); err != nil {
		tb.Fatal(err)
	}
	return cut
}

// ffmpeg exits with 0 on each of these; none may pass for a success.
func TestDamage_IsNeverASuccess(t *testing.T) {
	film, sound := `{"width":160,"quality":20}`, `{"video_codec":"none"}`
	for _, c := range []struct {
		name, sample, params string
		whole                bool
	}{
		{"garbage in the middle", "12_corrupt_mdat.mp4", film, true},
		{"half a faststart mp4", "01_normal_h264_aac.mp4", film, false},
		{"half a fragmented mp4", "19_fragmented.mp4", film, false},
		{"half a Matroska", "06_two_audio_subs.mkv", film, false},
		{"half a transport stream", "20_ts_offset.ts", film, false},
		{"half a wav", "07a_audio_24bit_96k.wav", sound, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sample(t, c.sample)
			if !c.whole {
				path = half(t, path)
			}
			t.Parallel()
			if _, _, err := plan(t, c.params, path); err != nil {
				t.Logf("refused before the run: %v", err)
				return
			}
			r := run(t, c.params, path)
			if err := service(t).CheckOutput(r.plan, r.seen); err == nil && len(r.damage) == 0 {
				t.Errorf("nothing told the damage; the result lasts %.2f s", r.seen.DurationS)
			}
		})
	}
}

// With damaged_input accept, what could be decoded is a result.
func TestDamage_Accepted(t *testing.T) {
	path := half(t, sample(t, "01_normal_h264_aac.mp4"))
	params := `{"width":160,"quality":20,"damaged_input":"accept"}`
	r := run(t, params, path)
	if len(r.damage) == 0 {
		t.Error("there was no damage to accept")
	}
	if err := service(t).CheckOutput(r.plan, r.seen); err != nil {
		t.Errorf("CheckOutput: %v", err)
	}
	if err := service(t).Expect(mustResolve(t, params), nil, nil).Check(r.probed); err != nil {
		t.Errorf("Expect: %v", err)
	}
}

// Lines of ffmpeg 5 to 8 as they were seen.
func TestDamageOf(t *testing.T) {
	for _, line := range []string{
		"[mov,mp4,m4a,3gp,3g2,mj2 @ 0x5589481c8380] stream 0, offset 0x184d1: partial file",
		"[matroska,webm @ 0x557e450e3840] File ended prematurely at pos. 53707 (0xd1cb)",
		"Error while decoding stream #0:0: Invalid data found when processing input",
		"[vist#0:0/h264 @ 0x5581] [dec:h264 @ 0x5582] Error submitting packet to decoder: Invalid data found when processing input",
		"[in#0/mov,mp4,m4a,3gp,3g2,mj2 @ 0x5581] corrupt input packet in stream 0",
		"[h264 @ 0x1] concealing 200 DC, 200 AC, 200 MV errors in P frame",
		"[aac @ 0x558982800bc0] error in spectral data, ESC overflow",
	} {
		if !DamageOf(line) {
			t.Errorf("not seen as damage: %s", line)
		}
	}
	for _, line := range []string{
		"",
		"[swscaler @ 0x560fe8f54300] deprecated pixel format used, make sure you did set range correctly",
		"[mp4 @ 0x1] Application provided duration: -1 / timestamp: 4 is out of range for mov/mp4 format",
		"[mjpeg @ 0x564f2798a840] EOI missing, emulating",
		"Guessed Channel Layout for Input Stream #0.1 : mono",
		"[alac @ 0x55d9ca48ce00] encoding as 24 bits-per-sample",
		"[wav @ 0x1] Estimating duration from bitrate, this may be inaccurate",
	} {
		if DamageOf(line) {
			t.Errorf("taken for damage: %s", line)
		}
	}
}

func TestCheckOutput_HoldsTheResultAgainstTheSource(t *testing.T) {
	plan := Plan{Streams: []ExpectStream{lasting("video", 60, 25), lasting("audio", 59, 0)}}
	out := func(video, audio float64, more ...InputStream) *InputMedia {
		streams := []InputStream{{Kind: "video", DurationS: video}, {Kind: "audio", DurationS: audio}}
		return &InputMedia{Streams: append(streams, more...)}
	}
	for _, c := range []struct {
		name string
		out  *InputMedia
		want string // "" passes
	}{
		{"exact", out(60, 59), ""},
		{"within the slack", out(59.8, 59.2), ""},
		{"short picture", out(59.7, 59), "video lasts 59.70 s where the input promises at least 59.75 s"},
		{"short sound", out(60, 30), "audio lasts 30.00 s"},
		{"long picture", out(61, 59), "at most 60.25 s"},
		{"empty sound", out(60, 0), "audio is empty"},
		{"no file", nil, "no readable file"},
		{"no sound", &InputMedia{Streams: []InputStream{{Kind: "video", DurationS: 60}}}, "lacks its audio stream"},
		{"a second sound", out(60, 59, InputStream{Kind: "audio", DurationS: 59}), "one audio stream too many"},
	} {
		err := service(t).CheckOutput(plan, c.out)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
