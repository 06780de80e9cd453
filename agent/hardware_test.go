package agent

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"rendermac/agentproto"
)

// refusing is an ffmpeg whose VideoToolbox comes half of the way with each file
// and then gives up; everything else it does.
const refusing = `case "$*" in
*_videotoolbox*) echo x >> $pids; echo out_time_us=1000000; echo progress=continue
  echo "[h264_videotoolbox @ 0x1] Error: cannot create compression session: -12903" >&2; exit 187;;
esac
`

// onAMac is an agent whose test frames proved VideoToolbox, with a script in
// ffmpeg's place.
func onAMac(t *testing.T, srv *fakeServer, script string) (a *testAgent, pids string) {
	t.Helper()
	ffmpeg, err := exec.LookPath("ffmpeg")
	if err != nil {
		t.Fatal(err)
	}
	program, pids := fakeFFmpeg(t, script+`exec `+ffmpeg+` "$@"`)
	return startAgent(t, srv, func(a *agent) {
		a.FFmpeg = program
		a.device = agentproto.Device{Platform: "darwin", Encoders: []string{"libx264", "aac", "h264_videotoolbox"}, Features: []string{}}
	}), pids
}

func TestHardware_RefusesTheFileAndSoftwareGoesOnInTheSameRun(t *testing.T) {
	srv := newServer(t)
	a, tried := onAMac(t, srv, refusing)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p"}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if want := []string{"encoded in software: the hardware encoder refused this file"}; !slices.Equal(commit.Warnings, want) {
		t.Errorf("warnings are %q", commit.Warnings)
	}
	if whole := srv.uploaded("att_1"); int64(len(whole)) != commit.Bytes || !bytes.Contains(whole, []byte("avc1")) {
		t.Errorf("the result is no film: %d bytes of %d", len(whole), commit.Bytes)
	}
	if n := lineCount(t, tried); n != 1 {
		t.Errorf("the hardware encoder was tried %d times", n)
	}
	if far := fractions(srv); !slices.IsSorted(far) {
		t.Errorf("it went back: %v", far)
	}
}

func TestHardware_AloneIsNotReplaced(t *testing.T) {
	srv := newServer(t)
	a, tried := onAMac(t, srv, refusing)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{"preset":"web-480p","encoder":"hardware"}`)
	fail := failsWith(t, srv, a, "runner_failed")
	want := "the hardware encoder refused this file: [h264_videotoolbox] Error: cannot create compression session: -12903; submit with encoder=auto, and software encodes it"
	if fail.Message != want || lineCount(t, tried) != 1 {
		t.Errorf("it was tried %d times, and the agent says %q", lineCount(t, tried), fail.Message)
	}
}

// Software is tried once, and what it then says counts.
func TestHardware_SoftwareFailsToo(t *testing.T) {
	srv := newServer(t)
	a, _ := onAMac(t, srv, refusing+`echo x >> $pids; echo "[libx264 @ 0x1] broken setting" >&2; exit 3; `)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	if fail := failsWith(t, srv, a, "runner_failed"); fail.Message != "ffmpeg failed (exit status 3): [libx264] broken setting" {
		t.Errorf("the agent says %q", fail.Message)
	}
}

// A damaged input is no refusal: nothing is encoded twice to find that out.
func TestHardware_DamageIsNoRefusal(t *testing.T) {
	srv := newServer(t)
	a, tried := onAMac(t, srv, strings.Replace(refusing, "Error: cannot create compression session", "Error while decoding stream #0:0", 1))
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	if fail := failsWith(t, srv, a, "runner_failed"); !strings.Contains(fail.Message, "the input is damaged") || lineCount(t, tried) != 1 {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestHardware_TakesWhatItCan(t *testing.T) {
	srv := newServer(t)
	_, tried := onAMac(t, srv, strings.Replace(refusing, "echo out_time", `exec ffmpeg $(echo "$@" | sed "s/h264_videotoolbox/libx264/;s/-q:v [0-9]*//"); echo out_time`, 1))
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	if commit := next[*agentproto.Commit](srv, 0, nil); len(commit.Warnings) != 0 || lineCount(t, tried) != 1 {
		t.Errorf("warnings are %q", commit.Warnings)
	}
}

func lineCount(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}
