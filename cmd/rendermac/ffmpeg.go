package main

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"

	"rendermac/config"
	"rendermac/server"
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

// decoderFor is the ffmpeg of verify.decode. A server that is to decode and
// cannot does not start: it would put every verification off for a day.
func decoderFor(c *config.Config) (*server.Decoder, error) {
	if !c.Verify.Decode {
		return nil, nil
	}
	ffmpeg, _, err := findFFmpeg(c)
	if err != nil {
		return nil, fmt.Errorf("verify.decode is on, and %w; or set verify.decode to false", err)
	}
	return &server.Decoder{FFmpeg: ffmpeg, Dir: c.Data}, nil
}

func installFFmpeg() string {
	if runtime.GOOS == "darwin" {
		return "brew install ffmpeg"
	}
	return "your package manager, such as apt-get install ffmpeg"
}
