package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"rendermac/config"
)

// findFFmpeg is the ffmpeg to run and its ffprobe: the one beside it, else the
// one on PATH.
func findFFmpeg(c *config.Config) (ffmpeg, ffprobe string, err error) {
	ffmpeg, err = exec.LookPath(cmp.Or(c.Agent.FFmpeg, "ffmpeg"))
	if err != nil {
		return "", "", fmt.Errorf("there is no ffmpeg (%w): install it with %s, or set agent.ffmpeg", err, installFFmpeg())
	}
	if ffprobe, err = exec.LookPath(filepath.Join(filepath.Dir(ffmpeg), "ffprobe")); err == nil {
		return ffmpeg, ffprobe, nil
	}
	if ffprobe, err = exec.LookPath("ffprobe"); err != nil {
		return "", "", fmt.Errorf("there is no ffprobe beside %s: install ffmpeg whole, with %s", ffmpeg, installFFmpeg())
	}
	return ffmpeg, ffprobe, nil
}

func installFFmpeg() string {
	if runtime.GOOS == "darwin" {
		return "brew install ffmpeg"
	}
	return "your package manager, such as apt-get install ffmpeg"
}
