package media

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// kind is one sample and the truth about it, by which every result is judged.
type kind struct {
	file  string
	w, h  int     // as displayed; 0: no picture
	shown float64 // seconds of picture
	sound float64 // seconds of sound; 0: none
	late  float64 // when the sound begins
	why   string  // a refusal, whatever is asked for
}

// kinds are media.md's "What a user's files are like"; those from 40 on are
// mediatest's own.
var kinds = []kind{
	{file: "01_normal_h264_aac.mp4", w: 640, h: 360, shown: 3, sound: 3},
	{file: "02_odd_641x361_444.mp4", w: 641, h: 361, shown: 2},
	{file: "02b_odd_641x361_420_vp9.webm", w: 641, h: 361, shown: 1},
	{file: "03_vfr.mp4", w: 320, h: 180, shown: 3.82},
	{file: "04_hevc10_hdr10.mov", w: 480, h: 270, shown: 2},
	{file: "05_rotate90.mp4", w: 180, h: 320, shown: 2},
	{file: "06_two_audio_subs.mkv", w: 320, h: 180, shown: 3, sound: 3.04},
	{file: "07a_audio_24bit_96k.wav", sound: 2},
	{file: "07b_audio.m4a", sound: 3},
	{file: "07c_surround51.flac", sound: 1},
	{file: "08_coverart.mp3", sound: 3},
	{file: "09_tmcd.mov", w: 320, h: 180, shown: 2, sound: 2},
	{file: "10_moov_at_end.mp4", w: 320, h: 180, shown: 3, sound: 3},
	{file: "11_truncated_no_moov.mp4", why: "its index (moov) is missing"},
	{file: "13_zero_byte.mp4", why: "the input is empty"},
	{file: "14_prores422.mov", w: 320, h: 180, shown: 1, sound: 1},
	{file: "15_prores4444_alpha.mov", w: 160, h: 90, shown: 1},
	{file: "16_anim.gif", w: 160, h: 90, shown: 2},
	{file: "17_alpha_vp9.webm", w: 160, h: 90, shown: 2},
	{file: "18a_still.jpg", w: 640, h: 360, shown: 0.04},
	{file: "18b_still_odd.png", w: 321, h: 181, shown: 0.04},
	{file: "19_fragmented.mp4", w: 320, h: 180, shown: 3, sound: 3},
	{file: "20_ts_offset.ts", w: 320, h: 180, shown: 2, sound: 2},
	{file: "21_raw.h264", w: 320, h: 180, shown: 2},
	{file: "22_interlaced_sar_2997.mp4", w: 654, h: 480, shown: 2},
	{file: "23_av_unequal_editlist.mp4", w: 320, h: 180, shown: 1, sound: 3, late: 0.48},
	{file: "24_one_frame.mp4", w: 320, h: 180, shown: 0.04},
	{file: "25_tiny_2x2.mp4", w: 2, h: 2, shown: 1},
	{file: "26_black_silence.mp4", w: 320, h: 180, shown: 2, sound: 2},
	{file: "27_png_named.mp4", w: 321, h: 181, shown: 0.04},
	{file: "28_text_named.mov", why: "no film, sound or picture"},
	{file: "29_s3_error_named.mp4", why: "no film, sound or picture"},
	{file: "30_av1.mp4", w: 320, h: 180, shown: 1},
	{file: "34_new\nline.mp4", w: 640, h: 360, shown: 3, sound: 3},
	{file: "40_pgs.mkv", w: 160, h: 90, shown: 2, sound: 2},
	{file: "41_late_subtitle.mkv", w: 160, h: 90, shown: 2, sound: 2},
	{file: "42_quad.mov", w: 160, h: 90, shown: 1, sound: 1},
	{file: "43_mono_96k.mkv", w: 160, h: 90, shown: 1, sound: 1},
	{file: "44_surround51_side.mkv", w: 160, h: 90, shown: 1, sound: 1},
	{file: "45_mono_8bit.wav", sound: 1},
	{file: "46_hour.mp4", w: 32, h: 18, shown: 3600, sound: 3600},
	{file: "47_hlg.mov", w: 320, h: 180, shown: 1},
	{file: "48_cover_first.mp4", w: 160, h: 90, shown: 1, sound: 1},
	{file: "49_two_pictures.mkv", w: 160, h: 90, shown: 1, sound: 1},
	{file: strings.Repeat("n", 251) + ".mp4", w: 160, h: 90, shown: 1, sound: 1},
	{file: "50_u\u0308ber.mp4", w: 160, h: 90, shown: 1, sound: 1},
	{file: "52_opus.webm", sound: 1},
	{file: "52_vorbis.ogg", sound: 1},
	{file: "52_sound.aiff", sound: 1},
	{file: "52_raw.aac", sound: 1},
	{file: "52_vbr_no_xing.mp3", sound: 2},
	{file: "52_raw.ac3", sound: 1},
	{file: "concat:01_normal_h264_aac.mp4|13_zero_byte.mp4", w: 640, h: 360, shown: 3, sound: 3},
}

// order is a service and its params, with what the result's streams must be.
type order struct {
	service, params string
	boxW, boxH      int    // 0: as the source
	picture, tones  string // codec, pixel format and matrix; sound's codec and, if it is fixed, layout
	makes           string // "": a film; or sound, a still, a sheet of 2×2 stills, the film twice
}

var orders = []order{
	{"ffmpeg.transcode", `{"preset":"web-480p"}`, 854, 480, "h264 yuv420p bt709", "aac stereo", ""},
	{"ffmpeg.transcode", `{"preset":"web-1080p"}`, 1920, 1080, "h264 yuv420p bt709", "aac stereo", ""},
	{"ffmpeg.transcode", `{"preset":"prores-proxy"}`, 0, 0, "prores yuv422p10le", "pcm_s24le", ""},
	{"ffmpeg.transcode", `{"video_codec":"hevc","quality":30}`, 0, 0, "hevc yuv420p", "aac", ""},
	{"ffmpeg.transcode", `{"preset":"podcast-m4a"}`, 0, 0, "", "aac", "sound"},
	{"ffmpeg.audio", `{"codec":"pcm","loudness_lufs":-23,"sample_rate":48000}`, 0, 0, "", "pcm", "sound"},
	{"ffmpeg.thumbnail", `{"at_fraction":0.5,"width":128,"format":"png"}`, 128, 0, "png", "", "still"},
	{"ffmpeg.sheet", `{"columns":2,"rows":2,"width":268}`, 128, 0, "mjpeg", "", "sheet"},
	{"ffmpeg.concat", `{"preset":"web-480p"}`, 854, 480, "h264 yuv420p bt709", "aac stereo", "twice"},
}

// expected says, without any of the product's own arithmetic, what must come.
func (o order) expected(k kind) string {
	switch {
	case k.why != "":
		return "refused: " + k.why
	case o.makes == "sound" && k.sound == 0:
		return "refused: the input has no audio stream"
	case o.makes == "sound":
		return fmt.Sprintf("sound %s %.1f s", o.tones, k.sound)
	case k.w == 0 && o.makes == "twice":
		return "refused: input 1 has no video stream"
	case k.w == 0:
		return "refused: the input has no video stream"
	case strings.Contains(o.params, "hevc") && min(k.w, k.h) < 16:
		return "refused: hevc takes no side under 16 pixels"
	case o.makes == "still" || o.makes == "sheet":
		return fmt.Sprintf("picture %s %s", o.still(float64(k.w), float64(k.h)), o.picture)
	case o.makes == "twice":
		k.shown = 2 * max(k.shown, k.late+k.sound)
		k.sound = min(k.sound, 1) * k.shown
	}
	w, h := o.fitted(float64(k.w), float64(k.h))
	text := fmt.Sprintf("picture %d×%d %s %.1f s", w, h, o.picture, k.shown)
	if k.sound > 0 {
		text += fmt.Sprintf(", sound %s %.1f s", o.tones, k.sound)
	}
	return text
}

func (o order) fitted(w, h float64) (int, int) {
	even := func(n float64) int { return int(n) / 2 * 2 }
	bw, bh := float64(o.boxW), float64(o.boxH)
	if h > w {
		bw, bh = bh, bw
	}
	if bw > 0 && (w > bw || h > bh) {
		scale := min(bw/w, bh/h)
		w, h = math.Round(w*scale), math.Round(h*scale)
	}
	return even(w), even(h)
}

// still is the size of a picture no wider than the box, or of four with black
// of four pixels around each.
func (o order) still(w, h float64) string {
	if box := float64(o.boxW); w > box {
		w, h = box, math.Round(h*box/w)
	}
	if o.makes == "sheet" {
		w, h = 2*(w+4)+4, 2*(h+4)+4
	}
	return fmt.Sprintf("%.0f×%.0f", w, h)
}

// carryOut is what came of an order, in the words of expected.
func carryOut(tb testing.TB, o order, path string) string {
	tb.Helper()
	plain := filepath.Join(tb.TempDir(), "input")
	if err := os.Symlink(path, plain); err != nil {
		tb.Fatal(err)
	}
	if _, err := lookOnce(plain); err != nil {
		said, _ := exec.Command("ffprobe", ProbeArgs(plain, "")...).CombinedOutput()
		info, statErr := os.Stat(path)
		if statErr != nil {
			tb.Fatal(statErr)
		}
		return "refused: " + ExplainFFprobe(string(said), info.Size())
	}
	inputs := []string{plain}
	if o.makes == "twice" {
		inputs = append(inputs, plain)
	}
	if _, _, err := planService(tb, o.service, o.params, inputs...); err != nil {
		return "refused: " + err.Error()
	}
	r := right(tb, o.service, o.params, inputs...)
	if o.makes == "still" || o.makes == "sheet" {
		v := r.stream(tb, "video")
		return fmt.Sprintf("picture %d×%d %s", v.Width, v.Height, v.Codec)
	}
	return r.inWords()
}

// inWords is a film or sound as expected words it, and what it must not be.
func (r result) inWords() string {
	var parts []string
	for _, s := range r.seen.Streams {
		switch {
		case s.Kind == "video":
			parts = append(parts, fmt.Sprintf("picture %d×%d %s %s %s %.1f s", s.Width, s.Height, s.Codec, s.PixelFormat, s.Matrix, s.DurationS))
			if s.Rotation != 0 || s.PixelAspect != 1 || s.FieldOrder == "tt" || s.FieldOrder == "bb" {
				parts = append(parts, "not upright, square and progressive")
			}
			if is := fmt.Sprint(s.Profile, s.Primaries, s.Transfer, s.Range); s.Codec == "h264" && is != "Highbt709bt709tv" {
				parts = append(parts, is)
			}
		case s.Kind == "audio":
			parts = append(parts, fmt.Sprintf("sound %s %s %.1f s", s.Codec, s.Layout, s.DurationS))
		}
	}
	return strings.Join(parts, ", ")
}

// agrees lets durations differ by 0.1 s, and words go on that an order leaves open.
func agrees(got, want string) bool {
	if strings.HasPrefix(want, "refused: ") {
		return strings.HasPrefix(got, "refused: ") && strings.Contains(got, strings.TrimPrefix(want, "refused: "))
	}
	gotParts, wantParts := strings.Split(got, ", "), strings.Split(want, ", ")
	if len(gotParts) != len(wantParts) {
		return false
	}
	for i := range wantParts {
		g, w := strings.Fields(gotParts[i]), strings.Fields(wantParts[i])
		if len(g) < len(w) {
			return false
		}
		if last := len(w) - 1; w[last] == "s" {
			if math.Abs(seconds(g[len(g)-2])-seconds(w[last-1])) > 0.11 {
				return false
			}
			w = w[:last-1]
		}
		for j := range w {
			if !strings.HasPrefix(g[j], w[j]) && !(j == 1 && nearSize(g[j], w[j])) {
				return false
			}
		}
	}
	return true
}

// nearSize allows one step of evening.
func nearSize(got, want string) bool {
	var a, b, c, d int
	if n, _ := fmt.Sscanf(got+" "+want, "%d×%d %d×%d", &a, &b, &c, &d); n != 4 {
		return false
	}
	return max(a-c, c-a) <= 2 && max(b-d, d-b) <= 2
}

func (k kind) path(tb testing.TB) string {
	tb.Helper()
	if k.file[0] >= '4' && !strings.HasPrefix(k.file, "concat:") {
		return filepath.Join(mediatest.More(tb), k.file)
	}
	return sample(tb, k.file)
}

// TestMatrix_EveryKind takes each kind through the order that suits it; make
// media-report takes each through all.
func TestMatrix_EveryKind(t *testing.T) {
	for _, k := range kinds {
		o := orders[0]
		if k.w == 0 && k.sound > 0 {
			o = orders[slices.IndexFunc(orders, func(o order) bool { return o.makes == "sound" })]
		}
		t.Run(fmt.Sprintf("%.40q", k.file), func(t *testing.T) {
			t.Parallel()
			if got, want := carryOut(t, o, k.path(t)), o.expected(k); !agrees(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A flash and a beep begin together in the samples, and must in the results.
func TestMatrix_SoundAndPictureStayTogether(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(mediatest.More(t), "51_sync*"))
	if err != nil || len(files) < 15 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	often := "51_sync.mp4 51_sync_offset.ts 51_sync_late_sound.mp4 51_sync_gap.mkv"
	for _, file := range files {
		if !strings.Contains(often, filepath.Base(file)) && os.Getenv("RENDERMAC_SOAK") == "" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := transcode(t, `{"width":160,"quality":20}`, file)
			was, is := offset(t, file), offset(t, r.path)
			if math.Abs(is-was) > 0.045 {
				t.Errorf("sound is %.3f s behind the picture, in the source %.3f s", is, was)
			}
		})
	}
}

// offset is by how much the last beep comes after the last flash.
func offset(tb testing.TB, path string) float64 {
	tb.Helper()
	flash := lastRise(tb, path, "-an", "-vf", "signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-", 100)
	beep := lastRise(tb, path, "-vn", "-af", "aresample=8000,asetnsamples=80,astats=metadata=1:reset=1,ametadata=print:key=lavfi.astats.Overall.Peak_level:file=-", -20)
	return beep - flash
}

// lastRise is when what a filter measures last rose over a level.
func lastRise(tb testing.TB, path, without, option, filter string, level float64) (at float64) {
	tb.Helper()
	out, err := exec.Command("ffmpeg", "-hide_banner", "-loglevel", "error", "-i", "file:"+path, without, option, filter, "-f", "null", "-").Output()
	if err != nil {
		tb.Fatal(err)
	}
	var now float64
	high, found := true, false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if _, pts, ok := strings.Cut(lines.Text(), "pts_time:"); ok {
			now = seconds(strings.TrimSpace(pts))
			continue
		}
		_, value, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		is := value != "-inf" && seconds(value) > level
		if is && !high {
			at, found = now, true
		}
		high = is
	}
	if !found {
		tb.Fatalf("%s has no flash or beep", path)
	}
	return at
}
