package main

import (
	"embed"
	"fmt"
	"net/http"
	"strings"
)

// outputs are what canned jobs have made: a job's is the one whose name its id ends with.
// What went into them is all the same film.
//
//go:embed canned/film.mp4 canned/sound.m4a canned/picture.jpg
var outputs embed.FS

func output(w http.ResponseWriter, r *http.Request) {
	for _, name := range []string{"film.mp4", "sound.m4a", "picture.jpg"} {
		kind, _, _ := strings.Cut(name, ".")
		if strings.HasSuffix(r.PathValue("id"), kind) {
			http.ServeFileFS(w, r, outputs, "canned/"+name)
			return
		}
	}
	http.NotFound(w, r)
}

func input(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, outputs, "canned/film.mp4")
}

// attemptLog is what any attempt has said; the first of a job that nobody has begun says nothing.
func attemptLog(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if strings.HasSuffix(r.PathValue("id"), "silent") {
		return
	}
	fmt.Fprintln(w, "ffmpeg version 8.0 Copyright (c) 2000-2025 the FFmpeg developers")
	fmt.Fprintln(w, "Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:/Users/studio/Library/Application Support/RenderMac/work/att_01kbd3m8q5w9x2c7e4r6t8y001/in-0/interview-with-the-director-long-version-2.mov':")
	for n := range 60 {
		fmt.Fprintf(w, "frame=%5d fps=187 q=-0.0 size=%8dKiB time=00:00:%02d.00 bitrate=4198.4kbits/s speed=7.48x\n", n*187, n*1024, n%60)
	}
}
