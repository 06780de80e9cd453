package agent

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
)

// fractions are what an attempt said of how far it has come while it ran.
func fractions(srv *fakeServer) (list []float64) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for _, h := range srv.heard {
		if p, ok := h.m.(*agentproto.Progress); ok && p.Phase == "running" && p.Fraction != nil {
			list = append(list, *p.Fraction)
		}
	}
	return list
}

func TestPasses_SoundIsMeasuredWrittenAndListenedTo(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	sound, err := makeMedia("sound.wav", "-f", "lavfi", "-i", "sine=d=2")
	if err != nil {
		t.Fatal(err)
	}
	srv.offerOf("ffmpeg.audio", srv.session(1), "att_1", sound, `{"loudness_lufs":-20,"codec":"pcm"}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if whole := srv.uploaded("att_1"); int64(len(whole)) != commit.Bytes || !bytes.HasPrefix(whole, []byte("RIFF")) {
		t.Errorf("the result is no wav: %d bytes of %d", len(whole), commit.Bytes)
	}
	if len(commit.Warnings) != 0 {
		t.Errorf("warnings are %q", commit.Warnings)
	}
	if far := fractions(srv); !slices.IsSorted(far) {
		t.Errorf("it went back: %v", far)
	}
}

func TestPasses_Thumbnail(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	srv.offerOf("ffmpeg.thumbnail", srv.session(1), "att_1", mustClip(t), `{"at_s":1}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	a.over()
	if whole := srv.uploaded("att_1"); int64(len(whole)) != commit.Bytes || !bytes.HasPrefix(whole, []byte("\xff\xd8\xff")) {
		t.Errorf("the result is no jpg: %d bytes of %d", len(whole), commit.Bytes)
	}
}

// measured is a script that measures as loudnorm does, and goes on otherwise
// with anything else.
func measured(otherwise string) string {
	return `case "$*" in
*loudnorm*) echo out_time_us=1900000; echo progress=end
  printf '{\n"input_i" : "-23.0",\n"input_tp" : "-20.0"\n}\n' >&2; exit 0;;
esac
` + otherwise
}

func audioRun(t *testing.T, otherwise string, adjust ...func(*agent)) (*fakeServer, *testAgent, *agentproto.LeaseOffer, string) {
	t.Helper()
	srv := newServer(t)
	program, pids := fakeFFmpeg(t, measured(otherwise))
	a := startAgent(t, srv, append(adjust, func(a *agent) { a.FFmpeg = program })...)
	return srv, a, srv.offerOf("ffmpeg.audio", srv.session(1), "att_1", mustClip(t), `{"loudness_lufs":-20}`), pids
}

func TestPasses_CancelInTheSecond(t *testing.T) {
	srv, a, o, pids := audioRun(t, slowScript)
	group(t, pids)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.Fraction != nil && *p.Fraction >= 0.3 })
	cancel(t, srv, a, o)
	if far := fractions(srv); !slices.IsSorted(far) {
		t.Errorf("it went back: %v", far)
	}
}

func TestPasses_StallInTheSecond(t *testing.T) {
	srv, a, _, _ := audioRun(t, `while :; do echo out_time_us=1000; echo progress=continue; sleep 0.02; done`,
		func(a *agent) { a.Stall = 6 * time.Second })
	if fail := failsWith(t, srv, a, "internal_error"); !strings.Contains(fail.Message, "no progress for 6s") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestPasses_DamageInTheFirst(t *testing.T) {
	srv := newServer(t)
	program, _ := fakeFFmpeg(t, `echo "[aac @ 0x1] [error] Error while decoding stream #0:1: Invalid data" >&2; `+measured("exit 9"))
	a := startAgent(t, srv, func(a *agent) { a.FFmpeg = program })
	srv.offerOf("ffmpeg.audio", srv.session(1), "att_1", mustClip(t), `{"loudness_lufs":-20}`)
	if fail := failsWith(t, srv, a, "runner_failed"); !strings.Contains(fail.Message, "the input is damaged: 1 decoding error") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestPasses_MeasuringInVain(t *testing.T) {
	srv := newServer(t)
	program, _ := fakeFFmpeg(t, `exit 0`)
	a := startAgent(t, srv, func(a *agent) { a.FFmpeg = program })
	srv.offerOf("ffmpeg.audio", srv.session(1), "att_1", mustClip(t), `{"loudness_lufs":-20}`)
	if fail := failsWith(t, srv, a, "runner_failed"); fail.Message != "ffmpeg did not say how loud the input is" {
		t.Errorf("the agent says %q", fail.Message)
	}
}
