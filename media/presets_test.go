package media

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"rendermac/media/mediatest"
)

// wideFilm is wide, with sound of six channels and a timecode; hdrFilm is of 10 bits
// with sound that mp4 does not take.
func wideFilm(t *testing.T) string {
	return mediatest.Clip(t, "film.mov", "-f", "lavfi", "-i", "testsrc2=s=480x200:r=25:d=0.6", "-f", "lavfi", "-i", "sine=r=48000:d=0.6,aformat=channel_layouts=5.1",
		"-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-timecode", "01:00:00:00")
}

func hdrFilm(t *testing.T) string {
	return mediatest.Clip(t, "hdr.mov", "-f", "lavfi", "-i", "testsrc2=s=320x180:r=25:d=0.4", "-f", "lavfi", "-i", "anoisesrc=r=48000:d=0.4,aformat=channel_layouts=quad",
		"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error", "-pix_fmt", "yuv420p10le", "-tag:v", "hvc1", "-c:a", "pcm_s24le",
		"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc")
}

// Each row of media.md's table, on the result.
func TestPresets_MakeWhatTheyPromise(t *testing.T) {
	film, hdr := wideFilm(t), hdrFilm(t)
	for _, c := range []struct{ preset, input, want string }{
		{"web-1080p", film, "mp4: h264 High avc1 480x200 yuv420p tv bt709/bt709/bt709, aac stereo"},
		{"web-720p", hdr, "mp4: h264 High avc1 320x180 yuv420p tv bt709/bt709/bt709, aac stereo"},
		{"web-480p", film, "mp4: h264 High avc1 480x200 yuv420p tv bt709/bt709/bt709, aac stereo"},
		{"hevc-2160p", film, "mp4: hevc Main hvc1 480x200 yuv420p tv //, aac 5.1"},
		{"hevc-2160p", hdr, "mp4: hevc Main 10 hvc1 320x180 yuv420p10le tv bt2020/smpte2084/bt2020nc, aac stereo"},
		{"archive-hevc", film, "mp4: hevc Main hvc1 480x200 yuv420p tv //, aac 5.1"},
		{"archive-hevc", hdr, "mp4: hevc Main 10 hvc1 320x180 yuv420p10le tv bt2020/smpte2084/bt2020nc, alac 5.0"},
		{"prores-422", film, "mov: prores Standard apcn 480x200 yuv422p10le tv //, pcm_s24le 5.1, 01:00:00:00"},
		{"prores-proxy", hdr, "mov: prores Proxy apco 320x180 yuv422p10le tv bt2020/smpte2084/bt2020nc, pcm_s24le quad"},
		{"edit-proxy-h264", film, "mov: h264 High avc1 480x200 yuv420p tv bt709/bt709/bt709, pcm_s16le 5.1, 01:00:00:00"},
		{"edit-proxy-h264", hdr, "mov: h264 High avc1 320x180 yuv420p tv bt709/bt709/bt709, pcm_s16le quad"},
		{"social-9x16", film, "mp4: h264 High avc1 112x200 yuv420p tv bt709/bt709/bt709, aac stereo"},
		{"social-1x1", film, "mp4: h264 High avc1 200x200 yuv420p tv bt709/bt709/bt709, aac stereo"},
		{"podcast-m4a", film, "m4a: aac 5.1"},
	} {
		t.Run(c.preset, func(t *testing.T) {
			t.Parallel()
			r := transcode(t, fmt.Sprintf(`{"preset":%q}`, c.preset), c.input)
			if got := r.described(); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
			if all, keys := pictures(t, r.path); c.preset == "edit-proxy-h264" && (all == 0 || all != keys) {
				t.Errorf("%d of %d pictures are key frames", keys, all)
			}
		})
	}
}

// described is a result as ffprobe sees it.
func (r result) described() string {
	text := r.probed.Container + ": "
	for _, s := range r.seen.of("video") {
		text += fmt.Sprintf("%s %s %s %dx%d %s %s %s/%s/%s, ", s.Codec, s.Profile, s.Tag, s.Width, s.Height, s.PixelFormat, s.Range,
			known(s.Primaries, ""), known(s.Transfer, ""), known(s.Matrix, ""))
	}
	for _, s := range r.seen.of("audio") {
		text += s.Codec + " " + s.Layout + ", "
	}
	return strings.TrimSuffix(text+r.seen.Timecode, ", ")
}

func pictures(t *testing.T, path string) (all, keys int) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", "file:"+path).Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := strings.Fields(string(out))
	return len(flags), len(slices.DeleteFunc(flags, func(f string) bool { return !strings.Contains(f, "K") }))
}

// A preset's box turns with the picture, is never filled by enlarging, and gives
// way to a size that the buyer sends.
func TestPresets_Boxes(t *testing.T) {
	for _, c := range []struct {
		params string
		w, h   int // of the source
		want   string
	}{
		{`{"preset":"web-1080p"}`, 3840, 2160, "1920x1080"},
		{`{"preset":"web-1080p"}`, 2160, 3840, "1080x1920"},
		{`{"preset":"web-1080p"}`, 1080, 1920, "1080x1920"},
		{`{"preset":"web-1080p"}`, 641, 361, "640x360"},
		{`{"preset":"web-720p"}`, 1000, 1000, "720x720"},
		{`{"preset":"hevc-2160p"}`, 7680, 4320, "3840x2160"},
		{`{"preset":"hevc-2160p"}`, 1280, 720, "1280x720"},
		{`{"preset":"edit-proxy-h264"}`, 1080, 1920, "720x1280"},
		{`{"preset":"archive-hevc"}`, 7680, 4320, "7680x4320"},
		{`{"preset":"social-9x16"}`, 3840, 2160, "1080x1920"},
		{`{"preset":"social-9x16"}`, 1920, 1080, "606x1080"},
		{`{"preset":"social-9x16"}`, 1080, 1920, "1080x1920"},
		{`{"preset":"social-1x1"}`, 1920, 1080, "1080x1080"},
		{`{"preset":"social-1x1"}`, 640, 360, "360x360"},
		{`{"preset":"social-1x1","fit":"contain"}`, 1920, 1080, "1080x608"},
		{`{"preset":"social-1x1","fit":"stretch"}`, 640, 360, "1080x1080"},
		{`{"preset":"web-720p","width":1920,"height":1080}`, 640, 360, "1920x1080"},
		{`{"preset":"social-9x16","width":540,"height":960}`, 640, 360, "540x960"},
	} {
		w, h := read[transcodeParams](mustResolve(t, c.params)).size(InputStream{Width: c.w, Height: c.h, PixelAspect: 1})
		if got := fmt.Sprintf("%dx%d", w, h); got != c.want {
			t.Errorf("%s of %dx%d: %s, want %s", c.params, c.w, c.h, got, c.want)
		}
	}
}

func TestPresets_Need(t *testing.T) {
	for preset, want := range map[string]string{
		"web-1080p": "zscale", "hevc-2160p": "hevc", "archive-hevc": "hevc", "prores-422": "", "edit-proxy-h264": "zscale", "social-1x1": "zscale", "podcast-m4a": "",
	} {
		hdr := probed(sample(t, "04_hevc10_hdr10.mov"))
		if got := strings.Join(service(t).Needs(mustResolve(t, fmt.Sprintf(`{"preset":%q}`, preset)), hdr), " "); got != want {
			t.Errorf("%s needs %q, want %q", preset, got, want)
		}
	}
}

var onAMac = Env{
	Platform: "darwin", Encoders: []string{"libx264", "libx265", "prores_ks", "h264_videotoolbox", "hevc_videotoolbox", "prores_videotoolbox"}, OutPath: "/x/out",
}

// Where VideoToolbox may refuse the file, software stands by, and says so.
func TestPlan_SoftwareStandsBy(t *testing.T) {
	in := sync.OnceValue(func() []Input {
		path := sample(t, "01_normal_h264_aac.mp4")
		m, err := lookOnce(path)
		if err != nil {
			t.Fatal(err)
		}
		return []Input{{Path: path, Demuxer: "mov", Media: *m}}
	})()
	for _, c := range []struct{ params, hardware, software string }{
		{`{"preset":"web-1080p"}`, "-c:v h264_videotoolbox -profile:v high -q:v 65 ", "-c:v libx264 -preset medium -profile:v high -crf 22 "},
		{`{"preset":"hevc-2160p"}`, "-c:v hevc_videotoolbox -tag:v hvc1 -profile:v main -q:v 65 ", "-c:v libx265 "},
		{`{"preset":"edit-proxy-h264"}`, "-c:v h264_videotoolbox -profile:v high -q:v 50 -g 1 ", "-crf 29 -g 1 "},
		{`{"preset":"web-1080p","encoder":"hardware"}`, "-c:v h264_videotoolbox ", ""},
		{`{"preset":"web-1080p","encoder":"software"}`, "-c:v libx264 ", ""},
		{`{"preset":"prores-422"}`, "-c:v prores_ks ", ""},
	} {
		p, err := service(t).Plan(mustResolve(t, c.params), in, onAMac)
		if err != nil {
			t.Fatal(err)
		}
		if args := strings.Join(p.Args, " "); !strings.Contains(args, c.hardware) || len(p.Warnings) > 0 {
			t.Errorf("%s: %s %q\nwant %s", c.params, args, p.Warnings, c.hardware)
		}
		if c.software == "" && p.Software == nil {
			continue
		}
		if c.software == "" || p.Software == nil {
			t.Errorf("%s: software stands by: %v", c.params, p.Software != nil)
			continue
		}
		warning := []string{"encoded in software: the hardware encoder refused this file"}
		if args := strings.Join(p.Software.Args, " "); !strings.Contains(args, c.software) || strings.Contains(args, "videotoolbox") || !slices.Equal(p.Software.Warnings, warning) {
			t.Errorf("%s: in software %s %q", c.params, args, p.Software.Warnings)
		}
	}
	env := onAMac
	env.Encoders = []string{"h264_videotoolbox"}
	if p, err := service(t).Plan(mustResolve(t, `{}`), in, env); err != nil || p.Software != nil {
		t.Errorf("without libx264 software stands by: %v, %v", p.Software != nil, err)
	}
}

func TestOwnPresets(t *testing.T) {
	var c Catalogue
	for service, own := range map[string]Preset{
		"ffmpeg.transcode": {"acme-review", "For Acme", []byte(`{"width":1280,"height":720,"quality":40,"burn_timecode":true}`)},
		"ffmpeg.audio":     {"acme-voice", "", []byte(`{"codec":"aac","channels":1}`)},
	} {
		if fault := c.Add(service, own); fault != nil {
			t.Fatalf("%s: %v", own.Name, fault)
		}
	}
	mine, _ := c.Lookup("ffmpeg.transcode")
	if theirs := service(t); slices.Contains(presetNames(theirs), "acme-review") || len(mine.Presets()) != len(theirs.Presets())+1 {
		t.Error("a server's own preset is everybody's")
	}
	if !strings.Contains(string(mine.Schema()), `"acme-review"`) || c.All()[slices.Index(names(All()), "ffmpeg.transcode")] != mine {
		t.Error("the catalogue does not show it")
	}
	resolved := resolvedFor(t, mine, `{"preset":"acme-review","quality":50}`)
	want := `{"preset":"acme-review","video_codec":"h264","audio_codec":"aac","container":"mp4","width":1280,"height":720,"fit":"contain","quality":50,` +
		`"encoder":"auto","tonemap":"auto","audio_tracks":"first","subtitles":"drop","burn_timecode":true,"damaged_input":"reject","boxed":true}`
	if string(resolved) != want {
		t.Errorf("resolved to %s\nwant        %s", resolved, want)
	}
	if again, faults := service(t).Accept(resolved); len(faults) > 0 || string(again) != want {
		t.Errorf("a Mac that does not know the preset takes %s, %v", again, faults)
	}
	if _, faults := service(t).Resolve(resolved); len(faults) == 0 {
		t.Error("a catalogue without the preset takes it")
	}
}

func names(services []*Service) (list []string) {
	for _, s := range services {
		list = append(list, s.Name)
	}
	return list
}

func TestOwnPresets_Mistakes(t *testing.T) {
	for _, c := range []struct{ service, name, params, location, says string }{
		{"ffmpeg.transcode", "web-720p", `{"quality":1}`, "", "is a preset that RenderMac has"},
		{"ffmpeg.audio", "web-720p", `{"codec":"aac"}`, "", "is a preset that RenderMac has"},
		{"ffmpeg.transcode", "a b", `{"quality":1}`, "", "must be named with"},
		{"ffmpeg.future", "mine", `{"quality":1}`, "service", "no service has this name"},
		{"ffmpeg.sheet", "mine", `{"columns":2}`, "service", "takes no presets"},
		{"ffmpeg.transcode", "mine", `{}`, "", "sets no params"},
		{"ffmpeg.transcode", "mine", `{"preset":"web-720p"}`, "preset", "cannot stand in a preset"},
		{"ffmpeg.transcode", "mine", `{"wdith":3}`, "wdith", "is no param of this service"},
		{"ffmpeg.transcode", "mine", `{"quality":101}`, "quality", "must be from 1 to 100"},
		{"ffmpeg.transcode", "mine", `{"boxed":true}`, "boxed", "is no param of this service"},
		{"ffmpeg.transcode", "mine", `{"video_codec":"copy","width":64}`, "width", "video_codec is copy"},
	} {
		var all Catalogue
		fault := all.Add(c.service, Preset{c.name, "", []byte(c.params)})
		if fault == nil || fault.Location != c.location || !strings.Contains(fault.Message, c.says) {
			t.Errorf("%s of %s with %s: %v, want %q: %s", c.name, c.service, c.params, fault, c.location, c.says)
		}
	}
}
