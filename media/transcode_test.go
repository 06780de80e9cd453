package media

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

func near(tb testing.TB, what string, got, want, slack float64) {
	tb.Helper()
	if math.Abs(got-want) > slack {
		tb.Errorf("%s: %.4f, want %.4f", what, got, want)
	}
}

func TestTranscode_OtherPresetsAndParams(t *testing.T) {
	for _, c := range []struct{ name, params, sample, video, audio string }{
		{"proxy of a variable rate", `{"preset":"prores-proxy"}`, "03_vfr.mp4", "apco Proxy 320x180 yuv422p10le ", ""},
		{"prores by quality", `{"video_codec":"prores","quality":90}`, "09_tmcd.mov", "apch HQ 320x180 yuv422p10le ", "aac 44100 mono"},
		{"podcast of 5.1(side)", `{"preset":"podcast-m4a"}`, "07c_surround51.flac", "", "aac 48000 5.1"},
		{"alac", `{"video_codec":"none","audio_codec":"alac"}`, "07a_audio_24bit_96k.wav", "", "alac 96000 stereo"},
		{"cover", `{"width":200,"height":200,"fit":"cover"}`, "09_tmcd.mov", "avc1 High 200x200 yuv420p bt709", "aac 44100 stereo"},
		{"stretch", `{"width":200,"height":300,"fit":"stretch"}`, "05_rotate90.mp4", "avc1 High 200x300 yuv420p bt709", ""},
		{"burnt timecode", `{"burn_timecode":true}`, "09_tmcd.mov", "avc1 High 320x180 yuv420p bt709", "aac 44100 stereo"},
		{"copied", `{"video_codec":"copy","audio_codec":"copy"}`, "01_normal_h264_aac.mp4", "avc1 High 640x360 yuv420p ", "aac 48000 mono"},
		{"copied hevc is hvc1", `{"video_codec":"copy"}`, "04_hevc10_hdr10.mov", "hvc1 Main 10 480x270 yuv420p10le smpte2084", ""},
		{"cut", `{"start_s":1,"duration_s":1.5}`, "01_normal_h264_aac.mp4", "avc1 High 640x360 yuv420p bt709", "aac 48000 stereo"},
		{"by bit rate", `{"video_bitrate":"300k","fps":15,"audio_codec":"none","width":200,"height":300}`, "01_normal_h264_aac.mp4", "avc1 High 200x112 yuv420p bt709", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := sample(t, c.sample)
			t.Parallel()
			r := transcode(t, c.params, path)
			var video, audio string
			for _, s := range r.seen.Streams {
				switch s.Kind {
				case "video":
					video += s.Tag + " " + s.Profile + " " + strconv.Itoa(s.Width) + "x" + strconv.Itoa(s.Height) + " " + s.PixelFormat + " " + s.Transfer
				case "audio":
					audio += s.Codec + " " + strconv.Itoa(s.SampleRate) + " " + s.Layout
				}
			}
			if video != c.video || audio != c.audio {
				t.Errorf("got %q and %q, want %q and %q", video, audio, c.video, c.audio)
			}
		})
	}
}

// Tone-mapping gets by with a file that tells no more than its transfer, and
// with odd sides.
func TestTranscode_PoorlyTaggedHDR(t *testing.T) {
	path := mediatest.Clip(t, "in.mkv", "-f", "lavfi", "-i", "testsrc=s=97x55:d=0.2", "-vf", "format=yuv444p10le", "-c:v", "libx265",
		"-preset", "ultrafast", "-x265-params", "log-level=error:transfer=arib-std-b67", "-color_trc", "arib-std-b67")
	if v := transcode(t, `{"preset":"web-480p"}`, path).stream(t, "video"); v.Transfer != "bt709" || v.Width != 96 || v.Height != 54 {
		t.Errorf("it became %s, %d×%d", v.Transfer, v.Width, v.Height)
	}
}

// An edit list that hides the start is obeyed: what it hides is no content.
func TestTranscode_EditListThatTrims(t *testing.T) {
	whole := sample(t, "01_normal_h264_aac.mp4")
	trimmed := transcode(t, `{"video_codec":"copy","audio_codec":"copy","start_s":1.2}`, whole)
	near(t, "our reading of the trimmed file", trimmed.probed.Streams[0].DurationS, 1.8, 0.04)
	r := transcode(t, `{"width":160}`, trimmed.path)
	near(t, "picture", r.stream(t, "video").DurationS, 1.8, 0.04)
	near(t, "sound", r.stream(t, "audio").DurationS, 1.8, 0.07)
}

func TestTranscode_ChaptersStayWithPodcastsOnly(t *testing.T) {
	meta := filepath.Join(t.TempDir(), "meta")
	text := ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=500\ntitle=one\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=500\nEND=1000\ntitle=two\n"
	if err := os.WriteFile(meta, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	path := mediatest.Clip(t, "in.mkv", "-f", "lavfi", "-i", "sine=d=1", "-f", "lavfi", "-i", "color=s=64x64:d=1", "-f", "ffmetadata", "-i", meta,
		"-map", "0:a", "-map", "1:v", "-map_chapters", "2", "-c:a", "flac")
	for params, want := range map[string]int{`{"preset":"podcast-m4a"}`: 2, `{"preset":"web-480p"}`: 2} {
		r := transcode(t, params, path)
		if got := len(r.seen.Streams); got != want {
			t.Errorf("%s: %d streams, want %d", params, got, want)
		}
	}
}

func TestTranscode_TracksAndSubtitles(t *testing.T) {
	r := transcode(t, `{"preset":"web-480p","audio_tracks":"all","subtitles":"keep"}`, sample(t, "06_two_audio_subs.mkv"))
	var got []string
	for _, s := range r.seen.Streams {
		got = append(got, s.Kind+" "+s.Codec+" "+s.Language)
	}
	want := "video h264 und, audio aac eng, audio aac fra, subtitle mov_text eng"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}

func TestTranscode_TimecodeIsKeptForEditing(t *testing.T) {
	path := sample(t, "09_tmcd.mov")
	for _, c := range []struct{ params, want string }{
		{`{"preset":"prores-proxy"}`, "01:00:00:00"},
		{`{"preset":"prores-proxy","start_s":1.2}`, "01:00:01:05"},
	} {
		r := transcode(t, c.params, path)
		if r.seen.Timecode != c.want {
			t.Errorf("%s: timecode %q, want %q", c.params, r.seen.Timecode, c.want)
		}
	}
}

// 23 has sound that begins half a second late: the result must keep it there.
func TestTranscode_LateSoundStaysLate(t *testing.T) {
	r := transcode(t, `{"preset":"web-480p"}`, sample(t, "23_av_unequal_editlist.mp4"))
	near(t, "picture", r.stream(t, "video").DurationS, 1, 0.04)
	near(t, "sound", r.stream(t, "audio").DurationS, 3.02, 0.07)
	near(t, "start of the sound", r.stream(t, "audio").StartS, 0.476, 0.05)
}

// Files without an index cannot be entered in the middle: ffmpeg would report
// decode errors, or find no picture at all.
func TestTranscode_CutsWithoutAnIndex(t *testing.T) {
	film := []string{"-f", "lavfi", "-i", "testsrc2=s=160x90:d=2", "-f", "lavfi", "-i", "sine=r=48000:d=2", "-c:v", "mpeg2video", "-bf", "2", "-c:a", "mp2"}
	for _, path := range []string{sample(t, "20_ts_offset.ts"), mediatest.Clip(t, "in.mpg", film...)} {
		r := transcode(t, `{"width":160,"start_s":0.6,"duration_s":1}`, path)
		near(t, "picture", r.stream(t, "video").DurationS, 1, 0.05)
		near(t, "sound", r.stream(t, "audio").DurationS, 1, 0.07)
	}
}

func TestBurntTimecode(t *testing.T) {
	p := &transcodeParams{StartS: 2}
	for _, c := range []struct{ format, timecode, want string }{
		{"mov,mp4", "01:00:00:00", "01:00:02:00"},
		{"mov,mp4", "", "00:00:02:00"},
		{"mpegts", "", "00:00:00:00"},
	} {
		if got := p.burntTimecode(InputMedia{Format: c.format, Timecode: c.timecode}, 25); got != c.want {
			t.Errorf("%s %q: %s, want %s", c.format, c.timecode, got, c.want)
		}
	}
}

// Sound that begins after the cut ends is left out, not made an empty track.
func TestTranscode_SoundOutsideTheCut(t *testing.T) {
	r := transcode(t, `{"width":160,"duration_s":0.3}`, sample(t, "23_av_unequal_editlist.mp4"))
	if len(r.seen.Streams) != 1 || r.seen.Streams[0].Kind != "video" {
		t.Errorf("the streams are %+v", r.seen.Streams)
	}
}

// Each frame of a variable rate keeps its time, so that picture and sound do
// not drift apart.
func TestTranscode_VariableRateKeepsItsTimes(t *testing.T) {
	path := sample(t, "03_vfr.mp4")
	r := transcode(t, `{"preset":"web-480p"}`, path)
	was, is := frameTimes(t, path), frameTimes(t, r.path)
	if len(was) != len(is) {
		t.Fatalf("%d frames became %d", len(was), len(is))
	}
	for i := range was {
		if math.Abs((is[i]-is[0])-(was[i]-was[0])) > 0.002 {
			t.Fatalf("frame %d moved from %.4f to %.4f s", i, was[i]-was[0], is[i]-is[0])
		}
	}
}

func frameTimes(tb testing.TB, path string) []float64 {
	tb.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of", "csv=p=0", "file:"+path).Output()
	if err != nil {
		tb.Fatal(err)
	}
	var times []float64
	for _, field := range strings.Fields(string(out)) {
		times = append(times, seconds(strings.Trim(field, ",")))
	}
	return times
}

// The colour on screen stays what it was, whichever matrix the source had.
func TestTranscode_ColoursStayTrue(t *testing.T) {
	for _, c := range []struct {
		name, params string
		args         []string
		want         [3]int
	}{
		{"untagged SD", `{"width":64}`, []string{"-f", "lavfi", "-i", "color=c=0xC02040:s=320x180:d=0.2", "-c:v", "libx264", "-pix_fmt", "yuv420p"}, [3]int{0xc0, 0x20, 0x40}},
		{"full range", `{"width":64}`, []string{"-f", "lavfi", "-i", "color=c=0x20C040:s=320x180:d=0.2", "-c:v", "mjpeg", "-q:v", "1", "-pix_fmt", "yuvj420p"}, [3]int{0x20, 0xc0, 0x40}},
		{"RGB", `{"preset":"prores-proxy"}`, []string{"-f", "lavfi", "-i", "color=c=0xC02040:s=320x180:d=0.2", "-c:v", "png", "-pix_fmt", "rgb24"}, [3]int{0xc0, 0x20, 0x40}},
		{"alpha over black", `{"preset":"prores-proxy"}`, []string{"-f", "lavfi", "-i", "color=c=0xC08040@0.5:s=320x180:d=0.2,format=yuva444p10le", "-c:v", "prores_ks", "-pix_fmt", "yuva444p10le"}, [3]int{0x60, 0x40, 0x20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := mediatest.Clip(t, "in.mov", c.args...)
			shows(t, transcode(t, c.params, path), c.want)
		})
	}
}

// shows decodes by the result's tags, or where it has none by the custom for SD.
func shows(tb testing.TB, r result, want [3]int) {
	tb.Helper()
	matrix := known(r.stream(tb, "video").Matrix, "170m")
	if r.stream(tb, "video").Height >= 720 {
		matrix = known(r.stream(tb, "video").Matrix, "709")
	}
	rgb, err := exec.Command("ffmpeg", "-v", "error", "-i", "file:"+r.path, "-vf", "zscale=min="+matrix+":rin=tv:m=gbr:r=pc,format=gbrp,format=rgb24,crop=1:1", "-frames:v", "1", "-f", "rawvideo", "-").Output()
	if err != nil || len(rgb) != 3 {
		tb.Fatalf("%v %v", rgb, err)
	}
	for i := range want {
		near(tb, "a colour", float64(rgb[i]), float64(want[i]), 6)
	}
}

// Every layout gives stereo beside h264; a single channel is not played softer.
func TestTranscode_ChannelLayouts(t *testing.T) {
	for _, layout := range []string{"mono", "5.1(side)", "hexagonal"} {
		t.Run(layout, func(t *testing.T) {
			t.Parallel()
			path := mediatest.Clip(t, "in.mkv", "-f", "lavfi", "-i", "color=s=64x64:d=0.5", "-f", "lavfi", "-i",
				"sine=d=0.5,aformat=channel_layouts="+layout, "-c:v", "libx264", "-c:a", "flac", "-strict", "-2")
			r := transcode(t, `{"preset":"web-480p"}`, path)
			if a := r.stream(t, "audio"); a.Layout != "stereo" {
				t.Errorf("the sound is %s", a.Layout)
			}
			if layout == "mono" {
				near(t, "loudness", loudness(t, r.path), loudness(t, path), 0.5)
			}
			if layout != "5.1(side)" {
				return
			}
			sound := transcode(t, `{"video_codec":"none"}`, path).stream(t, "audio")
			if sound.Layout != "5.1" {
				t.Errorf("sound alone is %s", sound.Layout)
			}
		})
	}
}

// loudness is the peak in dB.
func loudness(tb testing.TB, path string) float64 {
	tb.Helper()
	out, err := exec.Command("ffmpeg", "-hide_banner", "-i", "file:"+path, "-vn", "-af", "volumedetect", "-f", "null", "-").CombinedOutput()
	_, rest, found := strings.Cut(string(out), "max_volume: ")
	if err != nil || !found {
		tb.Fatalf("%v\n%s", err, out)
	}
	return seconds(strings.Fields(rest)[0])
}

func TestTranscode_SaysWhyNot(t *testing.T) {
	for _, c := range []struct{ sample, params, want string }{
		{"07b_audio.m4a", `{"preset":"web-1080p"}`, "the input has no video stream"},
		{"08_coverart.mp3", `{"preset":"web-1080p"}`, "the input has no video stream"},
		{"03_vfr.mp4", `{"preset":"podcast-m4a"}`, "the input has no audio stream"},
		{"01_normal_h264_aac.mp4", `{"start_s":9}`, "past the end of the input's picture (3 s)"},
		{"07b_audio.m4a", `{"preset":"podcast-m4a","start_s":9}`, "past the end of the input's sound (3 s)"},
		{"17_alpha_vp9.webm", `{"video_codec":"copy","container":"mov"}`, "cannot be copied into mov"},
		{"08_coverart.mp3", `{"video_codec":"none","audio_codec":"copy"}`, "cannot be copied into m4a"},
		{"01_normal_h264_aac.mp4", `{"encoder":"hardware"}`, "no hardware encoder for h264"},
		{"25_tiny_2x2.mp4", `{"video_codec":"hevc"}`, "hevc takes no side under 16 pixels"},
		{"13_zero_byte.mp4", `{}`, "no film, sound or picture"},
		{"28_text_named.mov", `{}`, "no film, sound or picture"},
	} {
		_, _, err := plan(t, c.params, sample(t, c.sample))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.sample, c.params, err, c.want)
		}
	}
}

func TestPlan_WithoutWhatThisDeviceLacks(t *testing.T) {
	path := sample(t, "04_hevc10_hdr10.mov")
	in, err := lookOnce(path)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []Input{{Path: path, Demuxer: "mov", Media: *in}}
	for _, c := range []struct {
		params string
		env    Env
		want   string
	}{
		{`{"preset":"web-1080p"}`, Env{Encoders: []string{"libx264"}}, "zscale"},
		{`{"preset":"web-1080p","tonemap":"off","burn_timecode":true}`, Env{Encoders: []string{"libx264"}}, "drawtext"},
		{`{"video_codec":"hevc"}`, Env{Encoders: []string{"libx264"}}, "libx265"},
	} {
		_, err := service(t).Plan(mustResolve(t, c.params), inputs, c.env)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a word on %s", c.params, err, c.want)
		}
	}
}

func TestPlan_OnAMac(t *testing.T) {
	path := sample(t, "01_normal_h264_aac.mp4")
	in, err := lookOnce(path)
	if err != nil {
		t.Fatal(err)
	}
	inputs := []Input{{Path: path, Demuxer: "mov", Media: *in}}
	both := []string{"libx264", "libx265", "prores_ks", "h264_videotoolbox", "hevc_videotoolbox", "prores_videotoolbox"}
	for _, c := range []struct {
		params   string
		encoders []string
		want     string
		warns    bool
	}{
		{`{"preset":"web-1080p"}`, both, "-c:v h264_videotoolbox -profile:v high -q:v 65", false},
		{`{"preset":"web-1080p","encoder":"software"}`, both, "-c:v libx264", false},
		{`{"preset":"web-1080p"}`, []string{"libx264"}, "-c:v libx264", true},
		{`{"video_codec":"hevc","video_bitrate":"2M"}`, both, "-c:v hevc_videotoolbox -tag:v hvc1 -profile:v main -b:v 2000000", false},
		{`{"preset":"prores-proxy"}`, both, "-c:v prores_ks", false},
		{`{"preset":"prores-proxy","encoder":"hardware"}`, both, "-c:v prores_videotoolbox -profile:v proxy", false},
	} {
		p, err := service(t).Plan(mustResolve(t, c.params), inputs, Env{Platform: "darwin", Encoders: c.encoders, OutPath: "/x/out"})
		if err != nil {
			t.Fatal(err)
		}
		if args := strings.Join(p.Args, " "); !strings.Contains(args, c.want) || (len(p.Warnings) > 0) != c.warns {
			t.Errorf("%s: %s %q\nwant %s", c.params, args, p.Warnings, c.want)
		}
	}
}
