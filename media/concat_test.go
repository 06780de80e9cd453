package media

import (
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// flashes is a film that is black but for a white frame at its start and at
// half, with a click of sound at the same moments, so that the result tells how
// far both are apart at every joint.
func flashes(tb testing.TB, name, size, fps string, audioS float64, args ...string) string {
	tb.Helper()
	in := []string{
		"-f", "lavfi", "-i", fmt.Sprintf("color=black:s=%s:r=%s:d=1,drawbox=c=white:t=fill:enable='lt(mod(t,0.5),0.04)'", size, fps),
	}
	if audioS > 0 {
		in = append(in, "-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='if(lt(mod(t,0.5),0.04),0.8*sin(2*PI*1000*t),0)':s=44100:d=%v", audioS))
	}
	return mediatest.Clip(tb, name, append(in, args...)...)
}

// moments are when the picture turns white, and when the sound sets in.
func moments(tb testing.TB, path string) (white, loud []float64) {
	tb.Helper()
	out, err := exec.Command("ffmpeg", "-nostdin", "-hide_banner", "-i", path, "-vf", "blackframe=amount=60:threshold=60,metadata=print:key=lavfi.blackframe.pblack",
		"-af", "silencedetect=n=-30dB:d=0.1", "-f", "null", "-").CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	var black []float64
	for line := range strings.Lines(string(out)) {
		if _, after, ok := strings.Cut(line, " t:"); ok && strings.Contains(line, "pblack:") {
			at, _, _ := strings.Cut(after, " ")
			n, _ := strconv.ParseFloat(at, 64)
			black = append(black, n)
		}
		if _, after, ok := strings.Cut(line, "silence_end: "); ok {
			at, _, _ := strings.Cut(after, " ")
			n, _ := strconv.ParseFloat(at, 64)
			loud = append(loud, n)
		}
	}
	for i := 1; i < len(black); i++ {
		if black[i]-black[i-1] > 0.06 {
			white = append(white, (black[i-1]+black[i])/2)
		}
	}
	return white, loud
}

// Inputs of every shape: the first one's size, rate and sound, and no drift.
func TestConcat_InputsOfEveryShape(t *testing.T) {
	quick := []string{"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"}
	first := flashes(t, "1.mp4", "320x180", "25", 1, append(quick, "-ac", "2", "-ar", "48000")...)
	paths := []string{
		first,
		flashes(t, "2.mov", "180x320", "30000/1001", 1.0, append(quick, "-vf", "setsar=4/3", "-c:a", "pcm_s16le", "-ac", "1")...),
		flashes(t, "3.mkv", "640x361", "50", 0.6, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p", "-ar", "22050"),
		flashes(t, "4.mp4", "320x180", "25", 0, quick...),
		flashes(t, "5.mp4", "320x240", "24", 1.5, append(quick, "-ac", "6")...),
		first,
	}
	t.Parallel()
	r := right(t, "ffmpeg.concat", `{"quality":40}`, paths...)
	v, a := r.stream(t, "video"), r.stream(t, "audio")
	if v.Width != 320 || v.Height != 180 || v.PixelAspect != 1 || v.Rotation != 0 || v.PixelFormat != "yuv420p" || v.Matrix != "bt709" {
		t.Errorf("the picture is %+v", v)
	}
	if a.SampleRate != 48000 || a.Layout != "stereo" {
		t.Errorf("the sound is %d Hz, %s", a.SampleRate, a.Layout)
	}
	// 1 s each, but for the fifth, whose sound goes on for half a second.
	if got := countFrames(t, r.path); got != "25/1,25/1,163" {
		t.Errorf("rates and frames: %s", got)
	}
	near(t, "picture", v.DurationS, 6.5, 0.05)
	near(t, "sound", a.DurationS, v.DurationS, 0.03)
	white, loud := moments(t, r.path)
	if len(white) < 9 || len(loud) < 9 {
		t.Fatalf("the picture flashes at %v, the sound at %v", white, loud)
	}
	for _, l := range loud {
		apart := math.Inf(1)
		for _, w := range white {
			apart = min(apart, math.Abs(l-w))
		}
		// At 5 s the fifth one's sound goes on without a picture; at the end nothing is heard.
		if apart > 0.06 && math.Abs(l-5) > 0.05 && l < 6.5 {
			t.Errorf("sound at %.3f is %.3f s from the picture (%v)", l, apart, white)
		}
	}
	if len(r.plan.Warnings) != 1 || r.plan.Warnings[0] != "silence stands where an input has no sound: 4" {
		t.Errorf("warnings: %q", r.plan.Warnings)
	}
}

// The samples are counted over the whole, so that a hundred joints are as good as one.
func TestConcat_NothingAddsUpOverAHundredInputs(t *testing.T) {
	m := &InputMedia{Format: "mov,mp4", Streams: []InputStream{
		{Index: 0, Kind: "video", Codec: "h264", Width: 7680, Height: 4320, PixelAspect: 1, FPS: 30000. / 1001, DurationS: 1.0344, Transfer: "arib-std-b67", FieldOrder: "tt", PixelFormat: "yuva444p12le"},
		{Index: 1, Kind: "audio", Codec: "aac", SampleRate: 44100, Channels: 2, Layout: "stereo", DurationS: 1.04},
	}}
	var in []Input
	for i := range 100 {
		in = append(in, Input{Path: fmt.Sprintf("/work/input-%d", i+1), Demuxer: "mov", Media: *m})
	}
	s := catalogued(t, "ffmpeg.concat")
	p, err := s.Plan(resolvedFor(t, s, `{"preset":"web-1080p"}`), in, thisDevice)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "duration", p.DurationS, 3100*1001./30000, 1e-6)
	for _, arg := range p.Args {
		if len(arg) >= 128<<10 { // Linux's limit of one argument
			t.Errorf("an argument has %d bytes", len(arg))
		}
	}
	medias := make([]*InputMedia, 100)
	for i := range medias {
		medias[i] = m
	}
	r, err := (&transcodeParams{VideoCodec: "h264", AudioCodec: "aac"}).reelOf(medias)
	if err != nil {
		t.Fatal(err)
	}
	var frames, samples int64
	for i, c := range r.clips {
		frames, samples = frames+c.frames, samples+c.samples
		if apart := float64(frames)*1001/30000 - float64(samples)/44100; math.Abs(apart) > 0.5/44100 {
			t.Errorf("after joint %d sound and picture are %.6f s apart", i+1, apart)
		}
	}
}

func TestConcat_WhatIsRefused(t *testing.T) {
	film := InputStream{Kind: "video", Codec: "h264", Width: 64, Height: 36, PixelAspect: 1, FPS: 25, DurationS: 1}
	hdr, hlg := film, film
	hdr.Transfer, hlg.Transfer = "smpte2084", "arib-std-b67"
	tune := InputStream{Kind: "audio", Codec: "aac", SampleRate: 48000, Channels: 2, Layout: "stereo", DurationS: 1}
	for _, c := range []struct {
		params, want string
		streams      []InputStream
	}{
		{`{}`, "input 2 has no video stream", []InputStream{film, tune}},
		{`{}`, "input 1 has no video stream", []InputStream{tune, film}},
		{`{"video_codec":"hevc"}`, "input 1 is HDR (smpte2084) and input 2 is not of its kind", []InputStream{hdr, film}},
		{`{"video_codec":"prores"}`, "input 1 is HDR (smpte2084) and input 3 is not of its kind", []InputStream{hdr, hdr, hlg}},
		{`{"tonemap":"off"}`, "input 2 is HDR and input 1 is not: set tonemap to auto", []InputStream{film, hlg}},
		{`{}`, "takes 2 to 100 inputs, this job has 1", []InputStream{film}},
		{`{}`, "", []InputStream{hdr, film, hlg}},
		{`{"video_codec":"hevc"}`, "", []InputStream{film, hlg}},
		{`{"video_codec":"hevc"}`, "", []InputStream{hlg, hlg}},
	} {
		var in []Input
		for _, s := range c.streams {
			in = append(in, Input{Path: "/work/x", Demuxer: "mov", Media: InputMedia{Format: "mov,mp4", Streams: []InputStream{s}}})
		}
		s := catalogued(t, "ffmpeg.concat")
		_, err := s.Plan(resolvedFor(t, s, c.params), in, thisDevice)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.params, err, c.want)
		}
	}
}

// HDR beside SDR becomes SDR, and a turned phone film stands upright.
func TestConcat_HDRAndTurned(t *testing.T) {
	paths := []string{sample(t, "09_tmcd.mov"), sample(t, "05_rotate90.mp4"), sample(t, "04_hevc10_hdr10.mov")}
	t.Parallel()
	r := right(t, "ffmpeg.concat", `{"preset":"prores-proxy"}`, paths...)
	v := r.stream(t, "video")
	if v.Width != 320 || v.Height != 180 || v.Transfer != "bt709" || v.Tag != "apco" || r.seen.Timecode != "01:00:00:00" {
		t.Errorf("the picture is %+v, timecode %q", v, r.seen.Timecode)
	}
	near(t, "picture", v.DurationS, 6, 0.09)
}

// What one input lacks is not made up for by a frozen picture.
func TestConcat_AShortInputIsSeen(t *testing.T) {
	whole := sample(t, "01_normal_h264_aac.mp4")
	p, in, err := planService(t, "ffmpeg.concat", `{"width":160}`, whole, whole)
	if err != nil {
		t.Fatal(err)
	}
	promised := *in[0]
	promised.Streams = append([]InputStream(nil), in[0].Streams...)
	for i := range promised.Streams {
		promised.Streams[i].DurationS += 2
	}
	s := catalogued(t, "ffmpeg.concat")
	input := Input{Path: whole, Demuxer: promised.Demuxer(), Media: promised}
	env := thisDevice
	env.OutPath = strings.TrimPrefix(p.Args[len(p.Args)-1], "file:")
	if p, err = s.Plan(resolvedFor(t, s, `{"width":160}`), []Input{input, input}, env); err != nil {
		t.Fatal(err)
	}
	r := result{plan: p}
	r.pass(t)
	if r.seen, err = look(env.OutPath); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckOutput(p, r.seen); err == nil || !strings.Contains(err.Error(), "promises at least") {
		t.Errorf("got %v", err)
	}
}

// What rate a variable one is on average, ffprobe and our reader see differently.
func TestConcat_OfAVariableRate(t *testing.T) {
	path := sample(t, "03_vfr.mp4")
	r := right(t, "ffmpeg.concat", `{"width":160}`, path, path)
	near(t, "picture", r.stream(t, "video").DurationS, 2*3.82, 0.1)
}
