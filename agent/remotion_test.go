package agent

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rendermac/agentproto"
	"rendermac/media"
	"rendermac/media/mediatest"
	"rendermac/media/probe"
)

// remotionAgent is an agent with the stand-in in Remotion's place.
func remotionAgent(t *testing.T, srv *fakeServer, adjust ...func(*agent)) *testAgent {
	t.Helper()
	command, browser := mediatest.Remotion(t)
	return startAgent(t, srv, append([]func(*agent){func(a *agent) { a.Remotion = Remotion{command, browser} }}, adjust...)...)
}

func offerBundle(srv *fakeServer, attempt string, bundle []byte, params string) *agentproto.LeaseOffer {
	return srv.offerOf("remotion.render", srv.session(1), attempt, bundle, params)
}

// browsers are the processes of the run's browser, once it runs.
func browsers(t *testing.T, workDir string) (ids []int) {
	t.Helper()
	waitFor(t, "the browser", func() bool {
		found, _ := filepath.Glob(filepath.Join(workDir, folderPrefix+"*", "tmp", "puppeteer*", "pids"))
		if len(found) == 0 {
			return false
		}
		text, _ := os.ReadFile(found[0])
		for _, field := range strings.Fields(string(text)) {
			id, _ := strconv.Atoi(field)
			ids = append(ids, id)
		}
		return len(ids) == 2
	})
	return ids
}

// noneLeft fails where one of the processes lives.
func noneLeft(t *testing.T, ids []int) {
	t.Helper()
	for _, p := range processes(t) {
		if slices.Contains(ids, p.id) && !p.dead {
			t.Errorf("process %d is left", p.id)
		}
	}
}

func TestBundleIsUnpackedRenderedAndCommitted(t *testing.T) {
	for codec, ext := range map[string]string{"h264": "mp4", "hevc": "mp4", "prores": "mov"} {
		t.Run(codec, func(t *testing.T) {
			srv := newServer(t)
			a := remotionAgent(t, srv)
			params := `{"composition":"Main","props":{"title":"<b>"},"frame_range":"2-11","scale":0.5,"codec":"` + codec + `"}`
			o := offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 30}, nil), params)
			commit := next[*agentproto.Commit](srv, 0, nil)
			a.over()
			noShortName(t, a.WorkDir)
			if commit.IDs != o.IDs || len(commit.Warnings) > 0 {
				t.Errorf("the commit is %+v", commit)
			}
			path := filepath.Join(t.TempDir(), "out."+ext)
			if err := os.WriteFile(path, srv.uploaded("att_1"), 0o600); err != nil {
				t.Fatal(err)
			}
			checkRendered(t, srv, path, params, 10)
		})
	}
}

// checkRendered holds a result against what the verifier will ask for, by the
// params and by what the agent told the server.
func checkRendered(t *testing.T, srv *fakeServer, path, params string, frames int64) {
	t.Helper()
	p := next(srv, 0, func(p *agentproto.Progress) bool { return p.InputMedia != nil })
	var said media.InputMedia
	if err := json.Unmarshal(p.InputMedia[0], &said); err != nil || said.Streams[0].Frames != frames {
		t.Errorf("the agent told the server %s", p.InputMedia[0])
	}
	service, _ := media.Lookup("remotion.render")
	resolved, faults := service.Resolve([]byte(params))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	expect := service.Expect(resolved, nil, []json.RawMessage{json.RawMessage(p.InputMedia[0])})
	if err := expect.Check(readMedia(t, path)); err != nil {
		t.Error(err)
	}
}

func TestRendersThatCannotBeRightFailAsRunnerFailed(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv)
	main := map[string]int{"Main": 10}
	for name, c := range map[string]struct {
		bundle         []byte
		composition    string
		props, message string
	}{
		"throws":          {mediatest.Bundle(t, main, nil), "Main", `{"throws":"the data has no row 5"}`, "the data has no row 5"},
		"never settles":   {mediatest.Bundle(t, main, nil), "Main", `{"unsettled":true}`, "was called but not cleared after 28000ms"},
		"short":           {mediatest.Bundle(t, main, nil), "Main", `{"short":true}`, "the result has 9 frames, not 10"},
		"no composition":  {mediatest.Bundle(t, main, nil), "Other", `{}`, "Could not find composition with ID Other. Available compositions: Main"},
		"no index.html":   {mediatest.Bundle(t, main, map[string]string{"index.html": ""}), "Main", `{}`, "no index.html"},
		"leaves its room": {mediatest.Bundle(t, main, map[string]string{"../out": "x"}), "Main", `{}`, "../out"},
		"no zip":          {[]byte("this is no zip"), "Main", `{}`, "zip"},
	} {
		mark := srv.mark()
		offerBundle(srv, "att_"+strconv.Itoa(mark), c.bundle, `{"composition":"`+c.composition+`","props":`+c.props+`}`)
		fail := next[*agentproto.Fail](srv, mark, nil)
		if fail.FailureCode != "runner_failed" || !strings.Contains(fail.Message, c.message) || strings.Contains(fail.Message, a.WorkDir) {
			t.Errorf("%s: %s: %s", name, fail.FailureCode, fail.Message)
		}
		a.over()
	}
}

func TestVanishedBrowserFailsTheRun(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv, func(a *agent) { a.Remotion.Browser += "-gone" })
	offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 10}, nil), `{"composition":"Main"}`)
	if fail := failsWith(t, srv, a, "runner_failed"); !strings.Contains(fail.Message, "its browser is not there any more") {
		t.Errorf("the agent says %q", fail.Message)
	}
}

func TestFullDiskUnderRemotionEndsAsInternalError(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv)
	offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 10}, nil), `{"composition":"Main","props":{"full":true}}`)
	failsWith(t, srv, a, "internal_error")
}

func TestStalledRemotionLeavesNoBrowser(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv, func(a *agent) { a.Stall = 2 * time.Second })
	offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 10}, nil), `{"composition":"Main","props":{"hangs":true}}`)
	ids := browsers(t, a.WorkDir)
	fail := failsWith(t, srv, a, "internal_error")
	if !strings.Contains(fail.Message, "no frame for 2s") {
		t.Errorf("the agent says %q", fail.Message)
	}
	noneLeft(t, ids)
}

func TestF10_CancelledRemotionLeavesNoBrowser(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv)
	o := offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 10}, nil), `{"composition":"Main","props":{"hangs":true}}`)
	ids := browsers(t, a.WorkDir)
	next(srv, 0, func(p *agentproto.Progress) bool { return p.Fraction != nil && *p.Fraction > 0.4 })
	cancel(t, srv, a, o)
	noneLeft(t, ids)
}

// A browser has a session of its own, and so escapes the guard's group.
func TestAbandonedBrowserIsEndedWithTheRun(t *testing.T) {
	srv := newServer(t)
	a := remotionAgent(t, srv)
	noted := filepath.Join(t.TempDir(), "pids")
	text, err := os.ReadFile(a.Remotion.Browser)
	if err == nil {
		err = os.WriteFile(a.Remotion.Browser, []byte(strings.Replace(string(text), "wait", "cp \"$profile/pids\" "+noted+"\nwait", 1)), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 300}, nil), `{"composition":"Main","props":{"abandons":true}}`)
	next[*agentproto.Commit](srv, 0, nil)
	a.over()
	text, err = os.ReadFile(noted)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, field := range strings.Fields(string(text)) {
		id, _ := strconv.Atoi(field)
		ids = append(ids, id)
	}
	noneLeft(t, ids)
}

func TestF17_KilledAgentLeavesNoBrowser(t *testing.T) {
	srv := newServer(t)
	command, browser := mediatest.Remotion(t)
	dir := t.TempDir()
	p := agentProc(t, srv, dir, "ffmpeg", "TEST_REMOTION="+command, "TEST_BROWSER="+browser)
	offerBundle(srv, "att_1", mediatest.Bundle(t, map[string]int{"Main": 10}, nil), `{"composition":"Main","props":{"hangs":true}}`)
	ids := browsers(t, filepath.Join(dir, "work"))
	if err := p.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the browser's end", func() bool {
		return !slices.ContainsFunc(processes(t), func(p process) bool { return slices.Contains(ids, p.id) && !p.dead })
	})
}

func TestRemotionIsOfferedWhereItPassedItsSelfTest(t *testing.T) {
	t.Parallel()
	command, browser := mediatest.Remotion(t)
	found, err := ProveRemotion(t.Context(), Remotion{command, browser})
	if err != nil || found != "Remotion 4.0.529, Chromium 100.0 (stand-in)" {
		t.Errorf("found %q: %v", found, err)
	}
	useless := filepath.Join(t.TempDir(), "remotion")
	if err := os.WriteFile(useless, []byte("#!/bin/sh\necho hello\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for says, m := range map[string]Remotion{
		"agent.remotion.command names, is not there": {command + "x", browser},
		"agent.remotion.browser names, is not there": {command, browser + "x"},
		"does not answer as Remotion does (hello)":   {useless, browser},
	} {
		if _, err := ProveRemotion(t.Context(), m); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %s", m, err, says)
		}
	}
	a := &agent{device: agentproto.Device{Features: []string{"drawtext"}}}
	if slices.Contains(a.offered(), "remotion.render") || !slices.Contains(a.offered(), "ffmpeg.transcode") {
		t.Errorf("without Remotion the agent offers %q", a.offered())
	}
	a.device.Features = append(a.device.Features, media.Remotion)
	if !slices.Contains(a.offered(), "remotion.render") {
		t.Errorf("with Remotion the agent offers %q", a.offered())
	}
}

func TestRemotionsLinesMakeOneFractionThatNeverGoesBack(t *testing.T) {
	r := &run{report: newReport(), dir: "/w/run"}
	fed, last := 0, 0.0
	s := newRemotionSays(r, func() { fed++ })
	for _, line := range []string{
		"Getting composition", "Rendered 0/4", "Rendered 2/4, time remaining: 1m 5s", "[Tab 0, x.js:1] Rendered 4/4", "Rendered 1/4", "Rendered 9/9",
		"Rendered 9/4", "Rendered 4/4", "Rendered 4/4", "Encoded 3/4", "Encoded 2/4", "Encoded 4/4", "Rendered 0/0",
	} {
		s.line(line)
		if p := r.report.message(agentproto.IDs{}); p.Fraction != nil {
			if *p.Fraction < last || *p.Fraction > 1 {
				t.Errorf("%s: from %v to %v", line, last, *p.Fraction)
			}
			last = *p.Fraction
		}
	}
	if fed != 4 || last != 1 || s.total != 4 {
		t.Errorf("%d steps, up to %v of %d frames", fed, last, s.total)
	}
	for text, want := range map[string]string{
		" Error  Error: no such row":                          "no such row",
		"An error occurred:\n TypeError  x is not a function": "x is not a function",
		"TimeoutError: waiting failed\n    at x.js:1":         "TimeoutError: waiting failed",
		"[Tab 0] Error: mine\nsomething else":                 "something else",
		"":                                                    "it did not say why",
	} {
		s := newRemotionSays(r, func() {})
		for line := range strings.Lines(text) {
			s.line(strings.TrimSuffix(line, "\n"))
		}
		if got := s.reason(); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// readMedia is what our own reader says of a file.
func readMedia(t *testing.T, path string) *probe.Media {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := probe.File(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}
