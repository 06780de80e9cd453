package media

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// tracks tells each track's kind, language and what a player makes of it.
func tracks(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-show_entries", "stream=codec_type:stream_tags=language:stream_disposition=default,forced", "-of", "csv=p=0:nk=0", "file:"+path).Output()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("codec_type=", "", ",disposition:default=1", " default", ",disposition:default=0", "", ",disposition:forced=1", " forced", ",disposition:forced=0", "", ",tag:language=", " ")
	return strings.ReplaceAll(strings.TrimSpace(text.Replace(string(out))), "\n", ", ")
}

// Two sound tracks, the second of which is the one to play, and two of subtitles.
func TestTranscode_TracksKeepLanguageAndDefault(t *testing.T) {
	srt := filepath.Join(t.TempDir(), "s.srt")
	if err := os.WriteFile(srt, []byte("1\n00:00:00,100 --> 00:00:00,400\nhello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := mediatest.Clip(t, "in.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x64:d=0.5", "-f", "lavfi", "-i", "sine=d=0.5", "-i", srt,
		"-map", "0", "-map", "1", "-map", "1", "-map", "2", "-map", "2", "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "flac", "-c:s", "srt",
		"-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", "-metadata:s:s:0", "language=fra", "-metadata:s:s:1", "language=jpn",
		"-disposition:a:0", "0", "-disposition:a:1", "default", "-disposition:s:0", "0", "-disposition:s:1", "default+forced")
	for params, want := range map[string]string{
		`{"audio_tracks":"all","subtitles":"keep"}`:    "video default und, audio eng, audio default deu, subtitle fra, subtitle default forced jpn",
		`{"preset":"prores-proxy","subtitles":"keep"}`: "video default, audio default eng, subtitle fra, subtitle default jpn",
		`{"video_codec":"copy","audio_codec":"copy"}`:  "video default und, audio default eng", // FLAC in mp4
	} {
		if got := tracks(t, transcode(t, params, path).path); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", params, got, want)
		}
	}
}

// A rate for a film of variable rate spaces its frames evenly, and moves none by
// more than half of one.
func TestTranscode_RateForVariableRate(t *testing.T) {
	path := sample(t, "03_vfr.mp4")
	r := transcode(t, `{"width":160,"fps":25}`, path)
	was, is := frameTimes(t, path), frameTimes(t, r.path)
	near(t, "length", float64(len(is))/25, was[len(was)-1]-was[0], 0.1)
	for i := range is[1:] {
		if math.Abs(is[i+1]-is[i]-0.04) > 0.001 {
			t.Fatalf("frame %d comes %.4f s after the one before", i+1, is[i+1]-is[i])
		}
	}
	if v := r.stream(t, "video"); v.Variable || v.FPS != 25 {
		t.Errorf("the rate is %v, variable: %v", v.FPS, v.Variable)
	}
}

// The timecode stands in the picture, and counts.
func TestTranscode_BurntTimecodeIsSeen(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "color=red:s=320x180:r=25:d=0.4", "-c:v", "libx264", "-preset", "ultrafast", "-timecode", "01:00:00:00")
	plain, burnt := transcode(t, `{}`, path), transcode(t, `{"burn_timecode":true}`, path)
	where := func(r result, crop string, frame string) []byte {
		out, err := exec.Command("ffmpeg", "-v", "error", "-i", "file:"+r.path, "-vf", "select=eq(n\\,"+frame+"),crop="+crop, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-").Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
		return out
	}
	if got := bytes.Count(where(plain, "120:24:100:150", "0"), []byte{255}) + bytes.Count(where(plain, "120:24:100:150", "0"), []byte{16}); got > 0 {
		t.Errorf("without it %d pixels are black or white", got)
	}
	first, last := where(burnt, "120:24:100:150", "0"), where(burnt, "120:24:100:150", "9")
	white := 0
	for i := range first {
		if first[i] > 180 {
			white++
		}
	}
	if white < 50 || bytes.Equal(first, last) {
		t.Errorf("%d pixels are white, and the last frame shows the same: %v", white, bytes.Equal(first, last))
	}
	if top := where(burnt, "320:80:0:0", "0"); bytes.ContainsFunc(top, func(c rune) bool { return c > 180 }) {
		t.Error("the top of the picture is written on")
	}
}

// Cover cuts the edges off and distorts nothing: the square in the middle of a
// wide picture stays one.
func TestTranscode_CoverCutsTheEdges(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "color=black:s=480x200:r=25:d=0.08,drawbox=190:50:100:100:white:fill",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p")
	r := transcode(t, `{"preset":"social-1x1"}`, path)
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", "file:"+r.path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-").Output()
	if err != nil || len(out) != 200*200 {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	row, column := 0, 0
	for i := range 200 {
		if out[100*200+i] > 128 {
			row++
		}
		if out[i*200+100] > 128 {
			column++
		}
	}
	if row != column || row < 98 || row > 102 || out[100*200+100] < 200 {
		t.Errorf("the square of 100 is %d×%d", row, column)
	}
}

// White paper under HDR (203 nits) stays bright in SDR, and is no blown-out light.
func TestTranscode_TonemapKeepsPaperBright(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "color=0x949494:s=128x72:r=25:d=0.08,format=yuv420p10le", "-c:v", "libx265", "-preset", "ultrafast",
		"-x265-params", "log-level=error", "-tag:v", "hvc1", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc")
	for params, want := range map[string][2]int{`{"preset":"web-480p"}`: {110, 235}, `{"preset":"web-480p","tonemap":"off"}`: {138, 158}} {
		r := transcode(t, params, path)
		out, err := exec.Command("ffmpeg", "-v", "error", "-i", "file:"+r.path, "-frames:v", "1", "-vf", "crop=2:2:20:20", "-f", "rawvideo", "-pix_fmt", "gray", "-").Output()
		if err != nil || len(out) == 0 || int(out[0]) < want[0] || int(out[0]) > want[1] {
			t.Errorf("%s: paper is %v, want one from %d to %d, %v", params, out, want[0], want[1], err)
		}
	}
}

// What people write for NTSC's rates is what they mean, as in every other service.
func TestTranscode_NTSCRate(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.4", "-c:v", "libx264", "-preset", "ultrafast")
	if got := countFrames(t, transcode(t, `{"fps":29.97}`, path).path); !strings.HasPrefix(got, "30000/1001,30000/1001,") {
		t.Errorf("rates and frames %s", got)
	}
}
