package agent

import (
	"bytes"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rendermac/agentproto"
	"rendermac/media"
)

// broken are inputs that no right result can be made of.
func broken(t *testing.T) map[string]struct {
	input  []byte
	params string
	says   string
} {
	t.Helper()
	clip := mustClip(t)
	damaged := bytes.Clone(clip)
	copy(damaged[len(damaged)/2:], bytes.Repeat([]byte{0xff}, len(damaged)/8))
	matroska, err := makeMedia("clip.mkv", "-f", "lavfi", "-i", "testsrc=s=128x72:r=10:d=3", "-c:v", "libx264", "-g", "5")
	if err != nil {
		t.Fatal(err)
	}
	sound, err := makeMedia("sound.wav", "-f", "lavfi", "-i", "sine=d=1")
	if err != nil {
		t.Fatal(err)
	}
	type c = struct {
		input  []byte
		params string
		says   string
	}
	return map[string]c{
		"damaged in the middle": {damaged, `{}`, "the input is damaged: "},
		"cut matroska":          {matroska[:len(matroska)/2], `{}`, ""},
		"cut mp4":               {clip[:len(clip)*2/3], `{}`, ""},
		"no moov":               {clip[:32], `{}`, "its index (moov) is missing"},
		"text":                  {[]byte("this is not a movie\n"), `{}`, ""},
		"playlist":              {[]byte("ffconcat version 1.0\nfile /etc/hostname\n"), `{}`, "not accepted"},
		"empty":                 {nil, `{}`, "the input is empty"},
		"sound only":            {sound, `{"preset":"web-480p"}`, "the input has no video stream"},
	}
}

func TestInputsWithoutARightResultFailAsRunnerFailed(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	for name, c := range broken(t) {
		mark := srv.mark()
		srv.offer(srv.session(1), "att_"+strconv.Itoa(mark), c.input, c.params)
		fail := next[*agentproto.Fail](srv, mark, nil)
		if fail.FailureCode != "runner_failed" || !strings.Contains(fail.Message, c.says) || strings.Contains(fail.Message, a.WorkDir) {
			t.Errorf("%s: %s: %s", name, fail.FailureCode, fail.Message)
		}
		a.over()
	}
}

func TestDamagedInputIsAcceptedWhereTheJobSaysSo(t *testing.T) {
	srv := newServer(t)
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", broken(t)["damaged in the middle"].input, `{"damaged_input":"accept"}`)
	commit := next[*agentproto.Commit](srv, 0, nil)
	if len(commit.Warnings) != 1 || !strings.Contains(commit.Warnings[0], "damaged input accepted: ") {
		t.Errorf("warnings are %q", commit.Warnings)
	}
	next(srv, 0, func(l *agentproto.Log) bool { return strings.Contains(strings.Join(l.Lines, "\n"), "rror") })
}

// scripted runs a shell script in ffmpeg's place and returns the failure.
func scripted(t *testing.T, code, script string, adjust ...func(*agent)) *agentproto.Fail {
	t.Helper()
	srv := newServer(t)
	program, _ := fakeFFmpeg(t, script)
	a := startAgent(t, srv, append(adjust, func(a *agent) { a.FFmpeg = program })...)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	return failsWith(t, srv, a, code)
}

func TestStalledFFmpegEndsAsInternalError(t *testing.T) {
	fail := scripted(t, "internal_error", `while :; do echo out_time_us=1000; echo progress=continue; sleep 0.02; done`,
		func(a *agent) { a.Stall = 2 * time.Second })
	if !strings.Contains(fail.Message, "no progress for 2s") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestFullDiskEndsAsInternalError(t *testing.T) {
	fail := scripted(t, "internal_error", `echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1`)
	if !strings.Contains(fail.Message, "disk is full") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestKilledFFmpegEndsAsInternalError(t *testing.T) {
	scripted(t, "internal_error", `kill -9 $$`)
}

func TestFailingFFmpegSaysWhy(t *testing.T) {
	fail := scripted(t, "runner_failed", `echo "[libx264 @ 0x55d0] broken setting" >&2; exit 3`)
	if fail.Message != "ffmpeg failed (exit status 3): [libx264] broken setting" {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestExitCodeZeroIsNotEnough(t *testing.T) {
	scripted(t, "runner_failed", `exit 0`)
}

func TestNoRoomIsSaidBeforeTheDownload(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	first := srv.session(1)
	o := &agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.transcode",
		Inputs: []agentproto.Input{{URL: srv.URL + "/v1/blobs/x", Bytes: 1 << 60}},
	}
	first.send(o)
	if fail := failsWith(t, srv, a, "internal_error"); !strings.Contains(fail.Message, "no room for the inputs") {
		t.Errorf("the agent says %q", fail.Message)
	}
	if len(srv.ranges()) > 0 {
		t.Error("the download began")
	}
}

func TestUnknownServiceFails(t *testing.T) {
	srv := newServer(t)
	a := startAgent(t, srv)
	srv.session(1).send(&agentproto.LeaseOffer{
		IDs: agentproto.IDs{JobID: "job_1", AttemptID: "att_1", LeaseEpoch: 1}, CommitToken: "t", LeaseTTL: 60, Service: "ffmpeg.future",
	})
	failsWith(t, srv, a, "internal_error")
}

func TestHeartbeatsComeWhateverTheRunDoes(t *testing.T) {
	srv := newServer(t)
	srv.blob = hang("GET")
	startAgent(t, srv)
	srv.offer(srv.session(1), "att_1", mustClip(t), `{}`)
	for range 3 {
		next[*agentproto.Progress](srv, srv.mark(), nil)
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	last := time.Time{}
	for _, h := range srv.heard {
		if h.m.Type() != "progress" {
			continue
		}
		if !last.IsZero() && h.at.Sub(last) > 10*srv.terms.Heartbeat.Duration() {
			t.Errorf("%s without progress", h.at.Sub(last))
		}
		last = h.at
	}
}

func TestInputMediaIsSentOnceItIsKnownAndNoMoreOnceAnswered(t *testing.T) {
	srv := newServer(t)
	slowRun(t, srv)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.InputMedia != nil })
	next[*agentproto.Progress](srv, srv.mark(), nil)
	for range 3 {
		if p := next[*agentproto.Progress](srv, srv.mark(), nil); p.InputMedia != nil {
			t.Error("input_media is sent again")
		}
	}
}

func TestProgressIsNeverNaNAndNeverOverOne(t *testing.T) {
	for name, c := range map[string]struct {
		durationS float64
		block     string
		fraction  any // nil is null
		fed       bool
	}{
		"half":             {10, "fps=25.0 out_time_us=5000000 speed=2.5x", 0.5, true},
		"over":             {10, "out_time_us=12000000", 1.0, true},
		"unknown duration": {0, "out_time_us=5000000", nil, true},
		"nothing known":    {10, "out_time_us=N/A speed=N/A fps=nan total_size=N/A", nil, false},
		"bytes only":       {10, "out_time_us=N/A total_size=48", nil, true},
		"negative":         {10, "out_time_us=-23000", 0.0, false},
		"speed zero":       {10, "out_time_us=1000000 speed=0x", 0.1, true},
	} {
		fed := false
		r := newReport()
		p := newProgress(r, media.Plan{DurationS: c.durationS}, 0, func() { fed = true })
		for _, line := range strings.Fields(c.block) {
			p.line(line)
		}
		p.line("progress=continue")
		m := r.message(agentproto.IDs{})
		if _, err := agentproto.Encode(m); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if fed != c.fed {
			t.Errorf("%s: counts as progress: %v", name, fed)
		}
		switch want, ok := c.fraction.(float64); {
		case !ok && m.Fraction != nil, ok && (m.Fraction == nil || math.Abs(*m.Fraction-want) > 1e-9):
			t.Errorf("%s: fraction %v, want %v", name, m.Fraction, c.fraction)
		}
	}
}

func TestTheSameProgressAgainIsAStall(t *testing.T) {
	fed := 0
	p := newProgress(newReport(), media.Plan{DurationS: 10}, 0, func() { fed++ })
	for range 3 {
		for _, line := range []string{"out_time_us=N/A", "total_size=48", "progress=continue", "out_time_us=7", "total_size=48", "progress=continue"} {
			p.line(line)
		}
	}
	if fed != 2 {
		t.Errorf("%d steps of progress, want 2", fed)
	}
}

func TestFactsAreProvedByTestFrames(t *testing.T) {
	t.Parallel()
	d := Facts(t.Context(), testOptions(t, "http://127.0.0.1", t.TempDir()))
	if d.CPUs < 1 || d.MemoryBytes < 1<<20 || d.Arch == "" || d.OSVersion == "" {
		t.Errorf("the machine is %+v", d)
	}
	if !slices.Contains(d.Encoders, "libx264") {
		t.Errorf("encoders are %q", d.Encoders)
	}
	filters, err := exec.Command("ffmpeg", "-hide_banner", "-filters").Output()
	if err != nil {
		t.Fatal(err)
	}
	if listed := bytes.Contains(filters, []byte(" zscale ")); listed != slices.Contains(d.Features, "zscale") {
		t.Errorf("features are %q, but that ffmpeg lists zscale is %v", d.Features, listed)
	}
	useless, err := exec.LookPath("false")
	if err != nil {
		t.Fatal(err)
	}
	none := Facts(t.Context(), Options{FFmpeg: useless})
	if len(none.Encoders) > 0 || len(none.Features) > 0 || none.Encoders == nil {
		t.Errorf("a program that encodes nothing offers %+v", none)
	}
}
