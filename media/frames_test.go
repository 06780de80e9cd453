package media

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// images makes a folder of numbered images as the agent leaves it.
func images(tb testing.TB, codec string, n int, args ...string) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "50%d {of} them")
	if err := os.Mkdir(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	args = append([]string{
		"-hide_banner", "-loglevel", "error", "-nostdin", "-f", "lavfi", "-i", fmt.Sprintf("testsrc2=s=160x90:r=25,trim=end_frame=%d", n),
	}, args...)
	args = append(args, "-c:v", codec, "-f", "image2", "file:"+strings.ReplaceAll(dir, "%", "%%")+"/%08d")
	if out, err := exec.Command("ffmpeg", args...).CombinedOutput(); err != nil {
		tb.Fatalf("ffmpeg %q: %v\n%s", args, err, out)
	}
	return dir
}

// countFrames decodes the whole picture and counts.
func countFrames(tb testing.TB, path string) string {
	tb.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-count_frames",
		"-show_entries", "stream=nb_read_frames,r_frame_rate,avg_frame_rate", "-of", "csv=p=0", path).Output()
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Exactly as many frames as images, at exactly the rate, for each kind of image.
func TestFrames_CountRateAndDuration(t *testing.T) {
	for _, c := range []struct {
		codec, params string
		n             int
		args          []string
		rates, video  string
		seconds       float64
	}{
		{"png", `{"fps":25}`, 20, []string{"-pix_fmt", "rgb24"}, "25/1,25/1,20", "avc1 160x90 yuv420p bt709", 0.8},
		{"png", `{"fps":29.97,"preset":"web-480p"}`, 20, []string{"-pix_fmt", "rgba"}, "30000/1001,30000/1001,20", "avc1 160x90 yuv420p bt709", 20 * 1001. / 30000},
		{"png", `{"fps":24,"preset":"prores-proxy"}`, 7, []string{"-pix_fmt", "rgb48be"}, "24/1,24/1,7", "apco 160x90 yuv422p10le bt709", 7. / 24},
		{"png", `{"fps":12.5}`, 1, []string{"-pix_fmt", "gray"}, "25/2,25/2,1", "avc1 160x90 yuv420p bt709", 0.08},
		{"mjpeg", `{"fps":23.976}`, 30, nil, "24000/1001,24000/1001,30", "avc1 160x90 yuv420p bt709", 30 * 1001. / 24000},
		{"mjpeg", `{"fps":60,"width":80}`, 13, nil, "60/1,60/1,13", "avc1 80x46 yuv420p bt709", 13. / 60},
		{"tiff", `{"fps":25,"video_codec":"hevc","quality":30}`, 5, []string{"-pix_fmt", "rgb48le"}, "25/1,25/1,5", "hvc1 160x90 yuv420p10le bt709", 0.2},
		{"png", `{"fps":25,"start_s":0.2,"duration_s":0.4,"burn_timecode":true}`, 20, nil, "25/1,25/1,10", "avc1 160x90 yuv420p bt709", 0.4},
	} {
		t.Run(c.codec+c.params, func(t *testing.T) {
			dir := images(t, c.codec, c.n, c.args...)
			t.Parallel()
			r := right(t, "ffmpeg.frames", c.params, dir)
			v := r.stream(t, "video")
			if got := fmt.Sprintf("%s %dx%d %s %s", v.Tag, v.Width, v.Height, v.PixelFormat, v.Transfer); got != c.video {
				t.Errorf("got %s, want %s", got, c.video)
			}
			if got := countFrames(t, r.path); got != c.rates {
				t.Errorf("rates and frames %s, want %s", got, c.rates)
			}
			near(t, "duration", v.DurationS, c.seconds, 0.0011)
			if len(r.seen.Streams) != 1 {
				t.Errorf("%d streams", len(r.seen.Streams))
			}
		})
	}
}

// An image that cannot be decoded is one frame fewer, or a grey one. Of a JPEG
// ffmpeg says the same as of whole ones; agents look at these themselves.
func TestFrames_DamagedImages(t *testing.T) {
	for _, codec := range []string{"png", "tiff"} {
		for _, at := range []string{"00000003", "00000006"} {
			dir := images(t, codec, 6)
			path := filepath.Join(dir, at)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()*2/3); err != nil {
				t.Fatal(err)
			}
			r := runService(t, "ffmpeg.frames", `{"fps":25}`, dir)
			s := catalogued(t, "ffmpeg.frames")
			if err := s.CheckOutput(r.plan, r.seen); err == nil && len(r.damage) == 0 {
				t.Errorf("%s, frame %s cut short: nobody sees it", codec, at)
			}
		}
	}
}

func TestFrames_OrderOfNames(t *testing.T) {
	for _, c := range []struct {
		name     string
		in, want []string
	}{
		{"padded, any start", []string{"s_1002.png", "s_1001.png", "s_1003.png"}, []string{"s_1001.png", "s_1002.png", "s_1003.png"}},
		{"natural", []string{"a/10.jpg", "a/9.jpg", "a/11.JPG"}, []string{"a/9.jpg", "a/10.jpg", "a/11.JPG"}},
		{"a number that stays", []string{"v2_0002@2x.png", "v2_0001@2x.png"}, []string{"v2_0001@2x.png", "v2_0002@2x.png"}},
		{"names that are harmless", []string{"-y %d;2.png", "-y %d;1.png"}, []string{"-y %d;1.png", "-y %d;2.png"}},
		{"one needs no number", []string{"cover.png"}, []string{"cover.png"}},
		{"from zero", []string{"1.png", "0.png"}, []string{"0.png", "1.png"}},
	} {
		if got, err := OrderFrames(c.in); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	for _, c := range []struct {
		want string
		in   []string
	}{
		{"holds no images", nil},
		{`lacks frame 3, between "s2.png" and "s4.png"`, []string{"s1.png", "s2.png", "s4.png"}},
		{`lacks 11 frames, the first of them 3, between "s2.png" and "s4.png"`, []string{"s1.png", "s2.png", "s4.png", "s15.png"}},
		{`frame 1 twice: "s1.png" and "s01.png"`, []string{"s1.png", "s01.png"}},
		{`more than one folder ("1.png" and "2.png")`, []string{"a/1.png", "b/2.png"}},
		{`"a1.png" and "b2.png" differ by more than a number`, []string{"a1.png", "b2.png"}},
		{`"a1.png" and "notes.txt" differ by more than a number`, []string{"a1.png", "a2.png", "notes.txt"}},
		{`"a1.png" and "a2.jpg" differ`, []string{"a1.png", "a2.jpg"}},
		{`"cover.png" has no number`, []string{"cover.png", "a2.png"}},
		{`differ by more than a number`, []string{"a1.png", "a99999999999999999999.png"}},
	} {
		if _, err := OrderFrames(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %s", c.in, err, c.want)
		}
	}
	for name, want := range map[string]bool{
		"__MACOSX/._a1.png": true, ".DS_Store": true, "shot/.hidden": true, "shot/Thumbs.db": true, "desktop.ini": true, "a/__MACOSX/x": true,
		"shot/a1.png": false, "..a/x": true, "a._1.png": false,
	} {
		if NotAFrame(name) != want {
			t.Errorf("NotAFrame(%q) is %v", name, !want)
		}
	}
}

func TestFrames_Params(t *testing.T) {
	s := catalogued(t, "ffmpeg.frames")
	for params, want := range map[string]string{
		`{}`:                                "params.fps is required",
		`{"fps":0}`:                         "params.fps must be from 1 to 240",
		`{"fps":25,"video_codec":"copy"}`:   "params.video_codec must be one of h264, hevc, prores",
		`{"fps":25,"container":"m4a"}`:      "params.container must be one of mp4, mov",
		`{"fps":25,"audio_codec":"aac"}`:    "params.audio_codec is no param of this service",
		`{"fps":25,"preset":"podcast-m4a"}`: "params.preset must be one of",
		`{"fps":25,"video_codec":"prores","container":"mp4"}`: "params.container prores fits into mov only",
	} {
		_, faults := s.Resolve(json.RawMessage(params))
		var said []string
		for _, f := range faults {
			said = append(said, f.Location+" "+f.Message)
		}
		if !strings.Contains(strings.Join(said, "; "), want) {
			t.Errorf("%s: %q, want %q", params, said, want)
		}
	}
	for _, preset := range s.Presets() {
		if strings.Contains(string(preset.Params), `"none"`) {
			t.Errorf("%s makes no picture", preset.Name)
		}
		resolved := resolvedFor(t, s, fmt.Sprintf(`{"fps":25,"preset":%q}`, preset.Name))
		again, faults := s.Accept(resolved)
		if len(faults) > 0 || string(again) != string(resolved) || strings.Contains(string(resolved), "audio") {
			t.Errorf("%s: %s, and again %s", preset.Name, resolved, again)
		}
	}
}
