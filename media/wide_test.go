package media

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// Red of a wide gamut is more than bt709's can be: where its numbers stayed as
// they are, it would come out dull.
func TestTranscode_WideGamutIsConverted(t *testing.T) {
	for _, c := range []struct{ primaries, transfer, matrix string }{
		{"smpte432", "bt709", "bt709"}, {"smpte432", "iec61966-2-1", "bt709"}, {"bt2020", "bt2020-10", "bt2020nc"},
	} {
		path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "color=c=0xa04040:s=64x64:r=25:d=0.2", "-vf",
			fmt.Sprintf("scale=out_color_matrix=%s,format=yuv420p,setparams=color_primaries=%s:color_trc=%s:colorspace=%s", strings.TrimSuffix(c.matrix, "nc"), c.primaries, c.transfer, c.matrix),
			"-c:v", "libx264", "-preset", "ultrafast", "-color_primaries", c.primaries, "-color_trc", c.transfer, "-colorspace", c.matrix)
		r := transcode(t, `{"preset":"web-480p"}`, path)
		if red, _, _ := rgbOf(t, r.path); red < 168 {
			t.Errorf("%s: red of 160 became %d: it was not converted", c.primaries, red)
		}
	}
}

// rgbOf is the colour in the middle of the first frame.
func rgbOf(t *testing.T, path string) (r, g, b int) {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", "file:"+path, "-frames:v", "1", "-vf", "crop=2:2,scale=in_color_matrix=bt709,format=rgb24", "-f", "rawvideo", "-").Output()
	if err != nil || len(out) < 3 {
		t.Fatalf("%v: %d bytes", err, len(out))
	}
	return int(out[0]), int(out[1]), int(out[2])
}

// ffprobe's names of two transfers are not those of ffmpeg's options.
func TestTranscode_PALGammaIsKept(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.2", "-c:v", "libx264", "-preset", "ultrafast",
		"-pix_fmt", "yuv420p", "-color_primaries", "bt470bg", "-color_trc", "gamma28", "-colorspace", "bt470bg")
	for _, params := range []string{`{"preset":"prores-proxy"}`, `{"video_codec":"hevc","quality":30}`} {
		if v := transcode(t, params, path).stream(t, "video"); v.Transfer != "bt470bg" {
			t.Errorf("%s: the transfer became %q", params, v.Transfer)
		}
	}
}

func TestTranscode_BeyondAllLevels(t *testing.T) {
	path := mediatest.Clip(t, "in.mov", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=0.2", "-c:v", "libx264", "-preset", "ultrafast")
	if _, _, err := plan(t, `{"width":16384,"height":16384}`, path); err == nil || !strings.Contains(err.Error(), "set a smaller width or height") {
		t.Errorf("got %v", err)
	}
}

// Channels that are lost unasked are told.
func TestSound_LostChannelsAreTold(t *testing.T) {
	path := mediatest.Clip(t, "in.wav", "-f", "lavfi", "-i", "anoisesrc=r=48000:d=0.3,aformat=channel_layouts=7.1", "-c:a", "pcm_s16le")
	for params, warns := range map[string]bool{
		`{"codec":"aac"}`: true, `{"codec":"alac","loudness_lufs":-23}`: true, `{"codec":"aac","channels":2}`: false, `{"codec":"pcm"}`: false,
	} {
		r := right(t, "ffmpeg.audio", params, path)
		if told := strings.Contains(strings.Join(r.plan.Warnings, "; "), "the sound's 8 channels became 6 (5.1)"); told != warns {
			t.Errorf("%s: %q", params, r.plan.Warnings)
		}
	}
}

// Sparse peaks make a limiter too loud: it is turned down behind.
func TestAudio_LoudnessOfSparsePeaks(t *testing.T) {
	path := mediatest.Clip(t, "in.wav", "-f", "lavfi", "-i", "aevalsrc='0.001*sin(2*PI*1000*t)+if(lt(mod(t,1),0.001),0.95,0)':d=6:s=48000", "-c:a", "pcm_s16le")
	if r := right(t, "ffmpeg.audio", `{"codec":"aac","loudness_lufs":-9}`, path); len(r.plan.Warnings) > 0 {
		t.Errorf("%q", r.plan.Warnings)
	}
}
