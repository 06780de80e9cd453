package main

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Several files become one job, and a zip of images a film, through a real server
// and a real agent.
func TestFilmsAreJoinedAndImagesBecomeAFilm(t *testing.T) {
	h := newHouse(t)
	h.serve("")
	h.open("$(rendermac devices pair --name mac) --data mac\nexec rendermac agent --data mac")
	h.until("the Mac is online", func() bool {
		return strings.Count(h.run("rendermac devices --json"), `"state": "online"`) == 1
	})
	h.run(`ffmpeg -v error -f lavfi -i testsrc2=s=320x180:d=1 -f lavfi -i sine=d=1 -preset ultrafast -pix_fmt yuv420p -c:v libx264 a.mov
		ffmpeg -v error -f lavfi -i testsrc=s=180x320:r=30:d=1 -preset ultrafast -pix_fmt yuv420p -c:v libx264 b.mov
		mkdir shot; ffmpeg -v error -f lavfi -i testsrc2=s=160x90:d=0.4 shot/s_%%04d.png`)
	zipFolder(t, filepath.Join(h.home, "whole.zip"), filepath.Join(h.home, "shot"), "")
	zipFolder(t, filepath.Join(h.home, "gap.zip"), filepath.Join(h.home, "shot"), "s_0004.png")
	probe := "ffprobe -v error -select_streams v -count_frames -show_entries stream=width,height,r_frame_rate,nb_read_frames -of csv=p=0 "
	h.run("rendermac submit a.mov b.mov a.mov --service ffmpeg.concat -p quality=40 -o joined.mp4")
	if got := strings.TrimSpace(h.run("%s joined.mp4", probe)); got != "320,180,25/1,75" {
		t.Errorf("joined: %s", got)
	}
	h.run("rendermac submit whole.zip --service ffmpeg.frames -p fps=29.97 -o film.mp4")
	if got := strings.TrimSpace(h.run("%s film.mp4", probe)); got != "160,90,30000/1001,10" {
		t.Errorf("film: %s", got)
	}
	term := h.open("exec rendermac submit gap.zip --service ffmpeg.frames -p fps=25 -o gap.mp4")
	<-term.ended
	if want := `the zip lacks frame 4, between "s_0003.png" and "s_0005.png"`; !strings.Contains(term.err.String(), want) {
		t.Errorf("it does not say %q: %s", want, &term.err)
	}
	term = h.open("exec rendermac submit a.mov --service ffmpeg.concat")
	<-term.ended
	if want := "ffmpeg.concat joins 2 to 100 files, and there are 1"; !strings.Contains(term.err.String(), want) {
		t.Errorf("it does not say %q: %s", want, &term.err)
	}
}

// zipFolder packs a folder as macOS does, leaving one file out.
func zipFolder(t *testing.T, path, folder, without string) {
	t.Helper()
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := zip.NewWriter(out)
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(name string, text []byte) {
		in, err := w.Create(name)
		if err == nil {
			_, err = in.Write(text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pack("shot/.DS_Store", []byte("hidden"))
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != without {
			pack("shot/"+e.Name(), text)
			pack(fmt.Sprintf("__MACOSX/shot/._%s", e.Name()), []byte("resource fork"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
