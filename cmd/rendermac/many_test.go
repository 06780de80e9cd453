package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/api"
)

// A folder of six files goes through a real server and two real agents; one of
// them is no film and fails alone.
func TestAFolderGoesToTwoMacs(t *testing.T) {
	h := newHouse(t)
	h.serve("")
	for _, mac := range []string{"mac-a", "mac-b"} {
		h.open("$(rendermac devices pair --name " + mac + ") --data " + mac + "\nexec rendermac agent --data " + mac)
	}
	h.until("both Macs are online", func() bool {
		return strings.Count(h.run("rendermac devices --json"), `"state": "online"`) == 2
	})
	h.run(`mkdir rushes; cd rushes
		ffmpeg -v error -f lavfi -i testsrc2=s=320x180:d=1 -preset ultrafast -pix_fmt yuv420p a.mov
		for name in b.mov c.mov d.mov e.mov; do cp a.mov $name; done
		echo 'this is a letter to my aunt' > broken.mp4
		echo 'left out' > notes.txt`)
	term := h.open("exec rendermac submit rushes --preset web-480p -o proxies --json --label reel=7")
	<-term.ended
	if code := term.cmd.ProcessState.ExitCode(); code != exitJobFailed {
		t.Fatalf("exit code %d, want %d\n%s", code, exitJobFailed, &term.err)
	}
	var files, paths []string
	var failed int
	for _, text := range strings.Split(strings.TrimSpace(term.out.String()), "\n") {
		var line struct {
			api.Job
			File  string
			Path  *string
			Error *string
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		files = append(files, line.File)
		switch line.Status {
		case api.JobSucceeded:
			paths = append(paths, *line.Path)
		case api.JobFailed:
			failed++
			if line.File != "rushes/broken.mp4" || line.Error == nil || line.Path != nil {
				t.Errorf("it was %s that failed: %s", line.File, text)
			}
		}
	}
	if want := []string{"rushes/a.mov", "rushes/b.mov", "rushes/broken.mp4", "rushes/c.mov", "rushes/d.mov", "rushes/e.mov"}; !slices.Equal(files, want) {
		t.Errorf("the files are %v", files)
	}
	if want := []string{"proxies/a.mp4", "proxies/b.mp4", "proxies/c.mp4", "proxies/d.mp4", "proxies/e.mp4"}; !slices.Equal(paths, want) || failed != 1 {
		t.Errorf("%d failed, and the results are %v", failed, paths)
	}
	saved, err := os.ReadDir(filepath.Join(h.home, "proxies"))
	if err != nil || len(saved) != 5 {
		t.Errorf("%d files were saved, %v", len(saved), err)
	}
	for _, want := range []string{"rushes: 6 films; left out: notes.txt\n", "6 files: 1 failed, 5 succeeded\n", "\nrendermac: rushes/broken.mp4: "} {
		if !strings.Contains(term.err.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, &term.err)
		}
	}
	if strings.ContainsAny(term.err.String(), "\x1b\r") {
		t.Errorf("there are control characters in\n%s", &term.err)
	}
	again := h.open("exec rendermac submit rushes/a.mov rushes/b.mov --preset web-480p -o proxies")
	<-again.ended
	if said := again.err.String(); !strings.Contains(said, "proxies/a.mp4, proxies/b.mp4 exist: pass --force to overwrite them") || strings.Contains(said, "queued") {
		t.Errorf("the second time it said %s", said)
	}
}
