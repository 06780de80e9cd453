package media

import (
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/media/mediatest"
	"rendermac/media/probe"
)

// painted are the colours of some pixels of a picture file, as any viewer reads it.
func painted(tb testing.TB, path string, at ...[2]int) (colours [][3]int) {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	picture, _, err := image.Decode(file)
	if err != nil {
		tb.Fatal(err)
	}
	for _, xy := range at {
		c := color.NRGBAModel.Convert(picture.At(xy[0], xy[1])).(color.NRGBA)
		colours = append(colours, [3]int{int(c.R), int(c.G), int(c.B)})
	}
	return colours
}

func sameColour(tb testing.TB, what string, got, want [3]int, slack float64) {
	tb.Helper()
	for i := range want {
		near(tb, what, float64(got[i]), float64(want[i]), slack)
	}
}

// Every kind of file that holds a picture gives one, upright, of its own size.
func TestThumbnail_OfEverySample(t *testing.T) {
	for _, c := range []struct {
		name   string
		params string
		w, h   int
	}{
		{"05_rotate90.mp4", `{"format":"png"}`, 180, 320},
		{"18b_still_odd.png", `{"at_s":7}`, 321, 181},
		{"21_raw.h264", `{"at_fraction":0.5}`, 320, 180},
		{"22_interlaced_sar_2997.mp4", `{"at_s":1}`, 654, 480},
		{"24_one_frame.mp4", `{"at_fraction":1}`, 320, 180},
	} {
		t.Run(c.name+c.params, func(t *testing.T) {
			path := sample(t, c.name)
			t.Parallel()
			r := right(t, "ffmpeg.thumbnail", c.params, path)
			v := r.stream(t, "video")
			want := "mjpeg yuvj420p"
			if strings.Contains(c.params, "png") {
				want = "png rgb"
			}
			if got := v.Codec + " " + v.PixelFormat; v.Width != c.w || v.Height != c.h || !strings.HasPrefix(got, want) || v.Rotation != 0 || v.PixelAspect != 1 {
				t.Errorf("it is %d×%d %s, turned %d, pixels of %v", v.Width, v.Height, got, v.Rotation, v.PixelAspect)
			}
		})
	}
}

// countedFilm is a film of which each frame tells its number by its grey: a red
// of 8 for each.
func countedFilm(tb testing.TB, name string, more ...string) string {
	tb.Helper()
	args := []string{"-f", "lavfi", "-i", "nullsrc=s=64x64:r=10:d=3,format=gray,geq=lum='N*8',format=yuvj420p"}
	return mediatest.Clip(tb, name, append(args, more...)...)
}

// frameOf is the number of the frame that a picture shows.
func frameOf(tb testing.TB, path string) int {
	return (painted(tb, path, [2]int{32, 32})[0][0] + 4) / 8
}

// It is the frame that a player shows at that time, not the next key frame, nor
// the one after; also in the last frame and between two.
func TestThumbnail_IsTheFrameOnScreen(t *testing.T) {
	x264 := []string{"-c:v", "libx264", "-qp", "1", "-g", "12", "-bf", "3"}
	for name, path := range map[string]string{
		"mp4":         countedFilm(t, "in.mp4", x264...),
		"late ts":     countedFilm(t, "in.ts", append([]string{"-output_ts_offset", "5"}, x264...)...),
		"long breaks": countedFilm(t, "vfr.mkv", append([]string{"-vf", `select='not(mod(n\,9))'`, "-fps_mode", "vfr"}, x264...)...),
	} {
		for _, c := range []struct {
			params string
			frame  int
		}{
			{`{"at_s":1.25,"format":"png"}`, 12},
			{`{"at_fraction":1,"format":"png"}`, 29},
		} {
			t.Run(name+c.params, func(t *testing.T) {
				want := c.frame
				if name == "long breaks" {
					want = want / 9 * 9
				}
				t.Parallel()
				if got := frameOf(t, right(t, "ffmpeg.thumbnail", c.params, path).path); got != want {
					t.Errorf("it is frame %d, want %d", got, want)
				}
			})
		}
	}
}

// The colours are those of the source, for viewers that read jpg and png as they
// always do.
func TestThumbnail_ColoursStayTrue(t *testing.T) {
	red := "color=c=0xC02040:s=320x180:d=0.2"
	for name, path := range map[string]string{
		"full range": mediatest.Clip(t, "full.mov", "-f", "lavfi", "-i", red, "-c:v", "mjpeg", "-q:v", "1", "-pix_fmt", "yuvj420p"),
		"untagged HD": mediatest.Clip(t, "u.mp4", "-f", "lavfi", "-i", "color=c=0xC02040:s=1280x720:d=0.1", "-vf", "scale=out_color_matrix=bt709,format=yuv420p",
			"-c:v", "libx264", "-qp", "4"),
	} {
		for _, params := range []string{`{"width":64}`, `{"width":64,"format":"png"}`} {
			if name != "full range" && strings.Contains(params, "png") {
				continue
			}
			t.Run(name+params, func(t *testing.T) {
				t.Parallel()
				r := right(t, "ffmpeg.thumbnail", params, path)
				sameColour(t, "the red", painted(t, r.path, [2]int{30, 10})[0], [3]int{0xc0, 0x20, 0x40}, 5)
			})
		}
	}
}

// See-through parts lie over black in a jpg, and stay in a png.
func TestThumbnail_Alpha(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "color=c=0xC08040@0.5:s=64x64:d=0.2,format=yuva444p10le", "-c:v", "prores_ks", "-pix_fmt", "yuva444p10le")
	sameColour(t, "over black", painted(t, right(t, "ffmpeg.thumbnail", `{}`, path).path, [2]int{9, 9})[0], [3]int{0x60, 0x40, 0x20}, 6)
	r := right(t, "ffmpeg.thumbnail", `{"format":"png"}`, path)
	sameColour(t, "see-through", painted(t, r.path, [2]int{9, 9})[0], [3]int{0xc0, 0x80, 0x40}, 6)
	if f := r.stream(t, "video").PixelFormat; f != "rgba" {
		t.Errorf("it is %s", f)
	}
}

// A picture of an HDR film is as bright as the film tone-mapped by transcode.
func TestThumbnail_HDR(t *testing.T) {
	path := sample(t, "04_hevc10_hdr10.mov")
	film := transcode(t, `{"preset":"web-480p","quality":90}`, path).path
	frame := mediatest.Clip(t, "frame.png", "-i", "file:"+film, "-vf", "scale=in_color_matrix=bt709,format=rgb24", "-frames:v", "1")
	at := [][2]int{{60, 60}, {200, 100}, {300, 200}, {400, 50}}
	got, want := painted(t, right(t, "ffmpeg.thumbnail", `{"at_s":0}`, path).path, at...), painted(t, frame, at...)
	for i := range at {
		sameColour(t, fmt.Sprint(at[i]), got[i], want[i], 20)
	}
}

// A photo says by EXIF how it is turned.
func TestThumbnail_OfAPhoto(t *testing.T) {
	path := mediatest.Clip(t, "photo.jpg", "-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	turned := filepath.Join(t.TempDir(), "turned")
	if err := os.WriteFile(turned, slices.Concat(data[:2], []byte(exif), data[2:]), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runService(t, "ffmpeg.thumbnail", `{}`, turned)
	if v := r.stream(t, "video"); v.Width != 48 || v.Height != 64 {
		t.Errorf("it is %d×%d", v.Width, v.Height)
	}
	said, err := json.Marshal(r.in[0])
	if err != nil {
		t.Fatal(err)
	}
	s := catalogued(t, "ffmpeg.thumbnail")
	if err := s.Expect(resolvedFor(t, s, `{}`), []*probe.Media{probed(turned)}, []json.RawMessage{said}).Check(r.probed); err != nil {
		t.Error(err)
	}
}

func TestThumbnail_SaysWhyNot(t *testing.T) {
	for _, c := range []struct{ sample, params, want string }{
		{"07b_audio.m4a", `{}`, "the input has no video stream"},
		{"08_coverart.mp3", `{}`, "the input has no video stream"},
		{"01_normal_h264_aac.mp4", `{"at_s":9}`, "at_s (9) is past the end of the input's picture (3 s)"},
		{"24_one_frame.mp4", `{"at_s":1}`, "past the end"},
		{"13_zero_byte.mp4", `{}`, "no film, sound or picture"},
	} {
		_, _, err := planService(t, "ffmpeg.thumbnail", c.params, sample(t, c.sample))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.sample, c.params, err, c.want)
		}
	}
}
