package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func sample(tb testing.TB, name string) []byte {
	tb.Helper()
	return read(tb, filepath.Join(mediatest.Samples(tb), name))
}

// of reads a file held in memory.
func of(data []byte) (*Media, error) { return File(strings.NewReader(string(data)), int64(len(data))) }

func must(tb testing.TB, data []byte) *Media {
	tb.Helper()
	m, err := of(data)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// brief is a stream in one line.
func brief(s Stream) string {
	switch s.Kind {
	case "video":
		return fmt.Sprintf("video %s %s %s %dx%d turn %d %dbit %s %vfps %d frames", s.Codec, s.Tag, s.Profile, s.Width, s.Height, s.Rotation, s.BitDepth, s.Chroma, s.FPS, s.Frames)
	case "audio":
		return fmt.Sprintf("audio %s %s %s %dHz %dch %dbit", s.Codec, s.Tag, s.Profile, s.SampleRate, s.Channels, s.BitDepth)
	}
	return s.Kind + " " + s.Codec
}

func TestFile_Samples(t *testing.T) {
	for _, c := range []struct {
		name, container string
		faststart       bool
		seconds         float64
		streams         []string
	}{
		{"01_normal_h264_aac.mp4", "mp4", true, 3, []string{"video h264 avc1 High 640x360 turn 0 8bit 4:2:0 30fps 90 frames", "audio aac mp4a LC 48000Hz 1ch 0bit"}},
		{"02_odd_641x361_444.mp4", "mp4", false, 2, []string{"video h264 avc1 High 4:4:4 Predictive 641x361 turn 0 8bit 4:4:4 25fps 50 frames"}},
		{"03_vfr.mp4", "mp4", false, 3.817, []string{"video h264 avc1 High 320x180 turn 0 8bit 4:2:0 28.035fps 107 frames"}},
		{"04_hevc10_hdr10.mov", "mov", false, 2, []string{"video hevc hvc1 Main 10 480x270 turn 0 10bit 4:2:0 24fps 48 frames"}},
		{"05_rotate90.mp4", "mp4", false, 2, []string{"video h264 avc1 High 180x320 turn 270 8bit 4:2:0 30fps 60 frames"}},
		{"07a_audio_24bit_96k.wav", "wav", false, 2, []string{"audio pcm   96000Hz 2ch 24bit"}},
		{"07b_audio.m4a", "m4a", false, 3, []string{"audio aac mp4a LC 44100Hz 2ch 0bit"}},
		{"09_tmcd.mov", "mov", false, 2, []string{"video h264 avc1 High 320x180 turn 0 8bit 4:2:0 25fps 50 frames", "audio pcm sowt  44100Hz 1ch 16bit", "timecode tmcd"}},
		{"14_prores422.mov", "mov", false, 1, []string{"video prores apcn Standard 320x180 turn 0 10bit 4:2:2 25fps 25 frames", "audio pcm in24  48000Hz 1ch 24bit"}},
		{"15_prores4444_alpha.mov", "mov", false, 1, []string{"video prores ap4h 4444 160x90 turn 0 12bit 4:4:4 25fps 25 frames"}},
		{"18a_still.jpg", "jpg", false, 0, []string{"video mjpeg   640x360 turn 0 8bit 4:2:0 0fps 1 frames"}},
		{"18b_still_odd.png", "png", false, 0, []string{"video png   321x181 turn 0 8bit  0fps 1 frames"}},
		{"19_fragmented.mp4", "mp4", true, 3.067, []string{"video h264 avc1 High 320x180 turn 0 8bit 4:2:0 30fps 90 frames", "audio aac mp4a LC 44100Hz 1ch 0bit"}},
		{"22_interlaced_sar_2997.mp4", "mp4", false, 2.002, []string{"video h264 avc1 High 655x480 turn 0 8bit 4:2:0 29.97fps 60 frames"}},
		{"23_av_unequal_editlist.mp4", "mp4", false, 3.499, []string{"video h264 avc1 High 320x180 turn 0 8bit 4:2:0 30fps 30 frames", "audio aac mp4a LC 44100Hz 1ch 0bit"}},
		{"24_one_frame.mp4", "mp4", false, 0.033, []string{"video h264 avc1 High 320x180 turn 0 8bit 4:2:0 30fps 1 frames"}},
		{"27_png_named.mp4", "png", false, 0, []string{"video png   321x181 turn 0 8bit  0fps 1 frames"}},
		{"30_av1.mp4", "mp4", false, 1, []string{"video av1 av01 Main 320x180 turn 0 8bit 4:2:0 25fps 25 frames"}},
	} {
		m, err := of(sample(t, c.name))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if m.Container != c.container || m.Faststart != c.faststart || math.Abs(m.DurationS-c.seconds) > 0.001 {
			t.Errorf("%s: %s, faststart %v, %.4f s; want %s, %v, %v s", c.name, m.Container, m.Faststart, m.DurationS, c.container, c.faststart, c.seconds)
		}
		var got []string
		for _, s := range m.Streams {
			got = append(got, brief(s))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.streams) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.streams)
		}
	}
}

// What ffprobe says of the same files, kinds of them that the samples lack too.
func TestFile_AgreesWithFFprobe(t *testing.T) {
	picture := []string{"-f", "lavfi", "-i", "testsrc2=s=128x72:r=24000/1001:d=1.5"}
	sound := []string{"-f", "lavfi", "-i", "sine=r=48000:d=1.5"}
	both := append(append([]string{}, picture...), sound...)
	with := func(in []string, more ...string) []string { return append(append([]string{}, in...), more...) }
	for _, c := range []struct {
		name string
		args []string
	}{
		{"vp9.mp4", with(picture, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8")},
		{"high10.mp4", with(picture, "-c:v", "libx264", "-pix_fmt", "yuv420p10le")},
		{"baseline.mp4", with(picture, "-c:v", "libx264", "-profile:v", "baseline", "-pix_fmt", "yuv420p")},
		{"mpeg4.mp4", with(picture, "-c:v", "mpeg4", "-aspect", "4:3")},
		{"proxy.mov", with(both, "-c:v", "prores_ks", "-profile:v", "proxy", "-c:a", "pcm_s16le")},
		{"alac.m4a", with(sound, "-c:a", "alac", "-sample_fmt", "s32p")},
		{"mp3.mp4", with(sound, "-c:a", "libmp3lame", "-ac", "2")},
		{"ac3.mp4", with(sound, "-c:a", "ac3", "-ac", "2")},
		{"opus.mp4", with(sound, "-c:a", "libopus", "-strict", "-2")},
		{"float96.mov", with(sound, "-c:a", "pcm_f32le", "-ar", "96000", "-ac", "6")},
		{"aac51.mov", with(sound, "-c:a", "aac", "-ac", "6")},
		{"aac96.mp4", with(sound, "-c:a", "aac", "-ar", "96000")},
		{"cut.mp4", with(both, "-c:v", "libx264", "-c:a", "aac", "-output_ts_offset", "0.4", "-avoid_negative_ts", "disabled")},
		{"segment.mp4", with(both, "-c:v", "libx264", "-c:a", "aac", "-g", "12", "-movflags", "frag_keyframe+empty_moov+cmaf")},
		{"pcm.wav", with(sound, "-c:a", "pcm_f32le", "-rf64", "always")},
		{"small.jpg", with(picture, "-frames:v", "1")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := mediatest.Clip(t, c.name, c.args...)
			m := must(t, read(t, path))
			want := ffprobe(t, path)
			if len(m.Streams) != len(want.Streams) {
				t.Fatalf("%d streams, ffprobe has %d", len(m.Streams), len(want.Streams))
			}
			for i, s := range m.Streams {
				want.Streams[i].compare(t, s)
			}
		})
	}
}

type ffprobeStream struct {
	Type     string `json:"codec_type"`
	Codec    string `json:"codec_name"`
	Profile  string
	Width    int
	Height   int
	Aspect   string `json:"sample_aspect_ratio"`
	Rate     string `json:"avg_frame_rate"`
	Hertz    string `json:"sample_rate"`
	Channels int
	Duration string
}

func ffprobe(tb testing.TB, path string) (out struct{ Streams []ffprobeStream }) {
	tb.Helper()
	raw, err := exec.Command("ffprobe", "-v", "error", "-show_streams", "-of", "json", "file:"+path).Output()
	if err != nil || json.Unmarshal(raw, &out) != nil {
		tb.Fatalf("ffprobe: %v", err)
	}
	return out
}

func (w ffprobeStream) compare(tb testing.TB, s Stream) {
	tb.Helper()
	codec := w.Codec
	if strings.HasPrefix(codec, "pcm_") {
		codec = "pcm"
	}
	if s.Kind != w.Type || s.Codec != codec || s.Channels != w.Channels {
		tb.Errorf("%s, ffprobe says %+v", brief(s), w)
	}
	if s.Profile != "" && s.Kind == "video" && !strings.EqualFold(s.Profile, w.Profile) {
		tb.Errorf("profile %q, ffprobe says %q", s.Profile, w.Profile)
	}
	if hertz, _ := strconv.Atoi(w.Hertz); hertz != s.SampleRate {
		tb.Errorf("%d Hz, ffprobe says %s", s.SampleRate, w.Hertz)
	}
	num, den := 1.0, 1.0
	fmt.Sscanf(w.Aspect, "%g:%g", &num, &den)
	if width := float64(w.Width) * num / max(den, 1); math.Abs(width-float64(s.Width)) > 0.51 || w.Height != s.Height {
		tb.Errorf("%d×%d, ffprobe says %v×%d", s.Width, s.Height, width, w.Height)
	}
	if duration, err := strconv.ParseFloat(w.Duration, 64); err == nil && s.DurationS > 0 && math.Abs(duration-s.DurationS) > 0.05 {
		tb.Errorf("%.4f s, ffprobe says %s s", s.DurationS, w.Duration)
	}
}

func TestFile_ColoursAndLanguages(t *testing.T) {
	m := must(t, sample(t, "04_hevc10_hdr10.mov"))
	if c := m.Streams[0].Color; c != (Color{"bt2020", "smpte2084", "bt2020nc"}) {
		t.Errorf("the colours are %+v", c)
	}
	path := mediatest.Clip(t, "x.mp4", "-f", "lavfi", "-i", "sine=d=0.2", "-c:a", "aac", "-metadata:s:a:0", "language=fra")
	if l := must(t, read(t, path)).Streams[0].Language; l != "fra" {
		t.Errorf("the language is %q", l)
	}
}

// Chapters and their pictures are tracks, but no content.
func TestFile_ChaptersAreNoContent(t *testing.T) {
	meta := filepath.Join(t.TempDir(), "meta")
	text := ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=one\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=two\n"
	if err := os.WriteFile(meta, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := mediatest.Clip(t, "x.m4a", "-f", "lavfi", "-i", "sine=d=1", "-f", "ffmetadata", "-i", meta, "-map", "0:a", "-map_chapters", "1", "-c:a", "aac")
	m := must(t, read(t, path))
	if len(m.Streams) != 2 || m.Streams[0].Kind != "audio" || m.Streams[1].Kind != "data" {
		t.Errorf("the streams are %+v", m.Streams)
	}
}

func TestFile_RefusesWithASentence(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"11_truncated_no_moov.mp4", "the file ends early: its mdat box needs"},
		{"13_zero_byte.mp4", "the file is empty (0 bytes)"},
		{"28_text_named.mov", ErrUnknown.Message},
		{"29_s3_error_named.mp4", ErrUnknown.Message},
		{"06_two_audio_subs.mkv", ErrUnknown.Message},
	} {
		_, err := of(sample(t, c.name))
		var e *Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Message, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if errors.Is(err, ErrUnknown) != (c.want == ErrUnknown.Message) {
			t.Errorf("%s: errors.Is tells the wrong thing of %v", c.name, err)
		}
	}
}

// A file that lost its tail, wherever it was cut, is never taken for whole;
// only fragments may end between two of them.
func TestFile_RefusesEveryPrefix(t *testing.T) {
	for _, name := range []string{"01_normal_h264_aac.mp4", "10_moov_at_end.mp4", "09_tmcd.mov", "07b_audio.m4a", "07a_audio_24bit_96k.wav"} {
		data := sample(t, name)
		for cut := 1; cut < len(data); cut += 1 + len(data)/500 {
			if m, err := of(data[:cut]); err == nil {
				t.Fatalf("%s cut to %d of %d bytes passed: %+v", name, cut, len(data), m)
			}
		}
		if _, err := of(data[:len(data)-1]); err == nil {
			t.Errorf("%s without its last byte passed", name)
		}
	}
}
