package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rendermac/media/mediatest"
)

// remotionStudio is a server with an agent that has this Remotion.
func remotionStudio(t *testing.T, command, browser string, patience time.Duration) (*house, *terminal) {
	t.Helper()
	h := newHouse(t)
	h.patience = patience
	h.run("mkdir -p '%s'", h.data())
	settings := fmt.Sprintf("agent:\n  slots: 1\n  remotion:\n    command: %q\n    browser: %q\n", command, browser)
	if err := os.WriteFile(filepath.Join(h.data(), "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return h, h.serve("--with-agent --data data")
}

func (h *house) data() string { return filepath.Join(h.home, "data") }

// render submits bundle.zip and answers what the command said, and its exit code.
func (h *house) render(flags string) (string, int) {
	h.Helper()
	t := h.open("exec rendermac --data data submit bundle.zip --service remotion.render " + flags + " 2>&1")
	<-t.ended
	return t.out.String(), t.cmd.ProcessState.ExitCode()
}

// checkFilm holds a downloaded film against what was asked for.
func (h *house) checkFilm(name, want string) {
	h.Helper()
	facts := h.run("ffprobe -v error -select_streams v -show_entries stream=codec_name,width,height,color_space,nb_frames -of csv=p=0 %s", name)
	if strings.TrimSpace(facts) != want {
		h.Errorf("%s is %q, want %s", name, facts, want)
	}
	h.run("ffmpeg -v error -xerror -i %s -f null -", name)
}

// workIsClear fails where a run left a file or a folder.
func (h *house) workIsClear() {
	h.Helper()
	if left, _ := filepath.Glob(filepath.Join(h.data(), "work", "rendermac-run-*")); len(left) > 0 {
		h.Errorf("work folders were left: %v", left)
	}
}

func TestRemotionIsRenderedFromSubmitToVerifiedFilm(t *testing.T) {
	command, browser := mediatest.Remotion(t)
	h, server := remotionStudio(t, command, browser, patience)
	bundle := mediatest.Bundle(t, map[string]int{"Main": 60}, nil)
	if err := os.WriteFile(filepath.Join(h.home, "bundle.zip"), bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	if said, code := h.render(`-p composition=Main -p 'props={"title": "<b>"}' -o out.mp4`); code != 0 {
		t.Fatalf("exit code %d: %s\n%s", code, said, &server.err)
	}
	h.checkFilm("out.mp4", "h264,64,36,unknown,60")
	said, code := h.render(`-p composition=Main -p 'props={"throws": "the data has no row 5"}' --wait`)
	if code != exitJobFailed || !strings.Contains(said, "the data has no row 5") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for flags, want := range map[string]string{
		"": "remotion.render needs -p composition=…", "-p composition=Main -p props=5": "-p props must be of type object",
	} {
		if said, code := h.render(flags); code != exitUsage || !strings.Contains(said, want) || strings.Contains(said, "uploading") {
			t.Errorf("%q: exit code %d: %s", flags, code, said)
		}
	}
	server.signal(syscall.SIGTERM)
	h.workIsClear()
}

// TestRealRemotion is for those who have it: make test-remotion REMOTION=…/node_modules.
func TestRealRemotion(t *testing.T) {
	modules, browser := os.Getenv("REMOTION"), os.Getenv("REMOTION_BROWSER")
	if modules == "" {
		t.Skip("REMOTION names no node_modules with @remotion/cli, remotion, react and react-dom")
	}
	if browser == "" {
		browser = findBrowser(t)
	}
	command := filepath.Join(modules, "@remotion", "cli", "remotion-cli.js")
	// Bundling takes a minute, a tab that spins half of one, and the server outlives all.
	h, server := remotionStudio(t, command, browser, 25*time.Minute)
	h.bundle(command, modules, "../../docs/examples/remotion", "src/index.jsx")
	for codec, want := range map[string]string{"h264": "h264,640,360,bt709,60", "hevc": "hevc,640,360,bt709,60", "prores": "prores,640,360,bt709,60"} {
		said, code := h.render(`-p composition=Main -p 'props={"title": "Löwe <1>"}' -p codec=` + codec + " -o film-" + codec)
		if code != 0 {
			t.Errorf("%s: exit code %d: %s\n%s", codec, code, said, &server.err)
			continue
		}
		h.checkFilm("film-"+codec, want)
	}
	if said, code := h.render("-p composition=Main -p scale=0.5 -p frame_range=10-19 -o part.mp4"); code != 0 {
		t.Errorf("a part: exit code %d: %s", code, said)
	}
	h.checkFilm("part.mp4", "h264,320,180,bt709,10")
	h.bundle(command, modules, "testdata/remotion", "index.jsx")
	for composition, want := range map[string]string{
		"Throws": "the data has no row 5", "NeverSettles": "the fonts of the studio", "Spins": "at frame 3 failed: timeout",
		"Nothing": "Could not find composition with ID Nothing. Available compositions: Throws, NeverSettles, Spins, Talks, Long",
	} {
		if said, code := h.render("--wait -p composition=" + composition); code != exitJobFailed || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d: %s", composition, code, said)
		}
	}
	if said, code := h.render("-p composition=Talks -o talks.mp4"); code != 0 {
		t.Errorf("Talks: exit code %d: %s", code, said)
	}
	h.checkFilm("talks.mp4", "h264,320,180,bt709,30")
	h.killWhileRendering(server)
}

// killWhileRendering kills the agent in the middle of a long composition.
func (h *house) killWhileRendering(server *terminal) {
	h.Helper()
	h.run("rendermac --data data submit bundle.zip --service remotion.render -p composition=Long")
	h.until("frames are rendered", func() bool {
		found, _ := filepath.Glob(filepath.Join(h.data(), "work", "rendermac-run-*", "tmp", "react-motion-render*"))
		return len(found) > 0
	})
	server.signal(syscall.SIGKILL)
	h.until("Remotion and its browser are gone", func() bool {
		left, _ := exec.Command("pgrep", "-f", filepath.Join(h.data(), "work")).Output()
		return len(left) == 0
	})
}

// bundle makes bundle.zip of a copy of the sources.
func (h *house) bundle(command, modules, from, entry string) {
	h.Helper()
	from, err := filepath.Abs(from)
	if err != nil {
		h.Fatal(err)
	}
	h.run(`rm -rf source bundle.zip; cp -r '%s' source; cd source; ln -s '%s' node_modules; [ -e package.json ] || echo '{}' > package.json
node '%s' bundle %s --out-dir=bundle --disable-git-source; cd bundle; python3 -m zipfile -c ../../bundle.zip *`, from, modules, command, entry)
}

// findBrowser looks where browsers are.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, path := range []string{"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "/usr/bin/chromium", "/usr/bin/google-chrome"} {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Fatal("there is no Chrome or Chromium here: name one with REMOTION_BROWSER")
	return ""
}
