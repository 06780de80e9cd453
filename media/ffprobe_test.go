package media

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// A file that names other files or addresses is no input: neither program may
// follow it, whatever it is called.
func TestGuard_FollowsNothing(t *testing.T) {
	dir := t.TempDir()
	secret := mediatest.Clip(t, "secret.mp4", "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.2")
	lists := map[string]string{
		"hls":      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:" + secret + "\n#EXT-X-ENDLIST\n",
		"ffconcat": "ffconcat version 1.0\nfile 'file:" + secret + "'\n",
		"dash":     `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><BaseURL>file:` + secret + `</BaseURL></Period></MPD>`,
		"sdp":      "v=0\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
	}
	for kind, text := range lists {
		path := filepath.Join(dir, kind+".mp4")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("ffprobe", ProbeArgs(path, "")...).Output(); err == nil {
			t.Errorf("ffprobe took a list of files (%s): %s", kind, out)
		}
		args := append([]string{"-nostdin", "-v", "error"}, guarded(path, "")...)
		if out, err := exec.Command("ffmpeg", append(args, "-f", "null", "-")...).CombinedOutput(); err == nil {
			t.Errorf("ffmpeg took a list of files (%s): %s", kind, out)
		}
		args = append([]string{"-nostdin", "-v", "error"}, guarded(path, kind)...)
		if out, err := exec.Command("ffmpeg", append(args, "-f", "null", "-")...).CombinedOutput(); err == nil {
			t.Errorf("ffmpeg took a list of files with its demuxer forced (%s): %s", kind, out)
		}
	}
}

// No option, filter or path may come from a name: it stays one argument.
func TestPlan_NamesAreNeverOptions(t *testing.T) {
	in := InputMedia{Format: "mov,mp4", Streams: []InputStream{{Kind: "video", Codec: "h264", Width: 64, Height: 64, PixelAspect: 1, FPS: 25, DurationS: 1}}}
	env := thisDevice
	env.OutPath = "/work/-x|y.mp4"
	p, err := service(t).Plan(mustResolve(t, `{}`), []Input{{Path: "/w/concat:a|b", Demuxer: "mov", Media: in}}, env)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Join(p.Args, "\n")
	for _, want := range []string{
		"-nostdin", "-progress\npipe:1", "-protocol_whitelist\nfile,pipe\n-format_whitelist\n" + demuxers + "\n-f\nmov\n-i\nfile:/w/concat:a|b", "\n-f\nmp4\nfile:/work/-x|y.mp4",
	} {
		if !strings.Contains(args, want) {
			t.Errorf("the command line lacks %q:\n%s", want, args)
		}
	}
}

func TestPlan_NumberOfInputs(t *testing.T) {
	for _, n := range []int{0, 2} {
		if _, err := service(t).Plan(mustResolve(t, `{}`), make([]Input, n), thisDevice); err == nil {
			t.Errorf("%d inputs passed", n)
		}
	}
}

// What the agent says of an input survives the wire.
func TestInputMedia_OverTheWire(t *testing.T) {
	in, err := look(sample(t, "22_interlaced_sar_2997.mp4"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var back InputMedia
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}
	w, h := back.of("video")[0].shown()
	if int(w) != 654 || h != 480 || !back.of("video")[0].interlaced() || back.DurationS < 2 {
		t.Errorf("%v × %v of %s", w, h, raw)
	}
}

// A Matroska file promises what its writer noted, even where half is gone.
func TestMeasurePackets(t *testing.T) {
	parse := func(duration string) *InputMedia {
		m, err := ParseFFprobe([]byte(`{"streams":[{"index":0,"codec_type":"video","codec_name":"h264","r_frame_rate":"25/1","avg_frame_rate":"25/1","tags":{"DURATION":"` + duration + `"}}],
			"format":{"format_name":"matroska,webm","start_time":"0.040000","duration":"99.0"}}`))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	packets := "0,0.040000,0.040000\n0,0.120000,0.040000\nnoise\n0,0.080000,0.040000\n0,0.160000,N/A\n7,5.0,1.0\n"
	for duration, want := range map[string]float64{"": 0.12, "00:00:00.200000000": 0.12, "00:01:00.040000000": 60, "rubbish": 0.12} {
		m := parse(duration)
		if !m.NeedsPackets() {
			t.Fatal("a stream without a duration needs its packets")
		}
		if err := m.MeasurePackets(bytes.NewReader([]byte(packets))); err != nil {
			t.Fatal(err)
		}
		near(t, "duration by "+duration, m.Streams[0].DurationS, want, 0.001)
		near(t, "start", m.Streams[0].StartS, 0, 0.001)
	}
}

func TestExplainFFprobe(t *testing.T) {
	for _, c := range []struct {
		stderr string
		bytes  int64
		want   string
	}{
		{"", 0, "empty"},
		{"[mov @ 0x1] moov atom not found\n", 100, "cut short"},
		{"[hls @ 0x1] Format not on whitelist 'mov'", 100, "not accepted"},
		{"file:x: Invalid data found when processing input", 100, "no film, sound or picture"},
	} {
		if got := ExplainFFprobe(c.stderr, c.bytes); !strings.Contains(got, c.want) {
			t.Errorf("%q: %q, want %q", c.stderr, got, c.want)
		}
	}
}
