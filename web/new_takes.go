package web

import (
	"encoding/json"
	"math"
)

// Takes is how many bits a preset's result takes, as far as its params tell: what
// the page reckons the size of, once it knows the files.
type Takes struct {
	PerPixel  float64 // of each picture; 0 where PerSecond has all
	PerSecond int64
}

// Known tells whether anything can be reckoned by it.
func (t Takes) Known() bool { return t.PerPixel > 0 || t.PerSecond > 0 }

// What a pixel of usual footage takes at quality 65, as a rule of thumb: 4.7 and
// 2.9 Mbit/s of 1080p25. Six steps of the encoders' own scale halve it, and a step
// of quality is 0.45 of one.
var perPixel = map[string]float64{"h264": 0.09, "hevc": 0.055}

const usualSound = 192_000 // of sound that is copied, or said no rate for

// Takes is nothing where the params leave it open: H.264 beside PCM is for editing,
// with every frame a key frame, or not.
func (p OfferPreset) Takes() Takes {
	var y yielded
	if json.Unmarshal(p.Params, &y) != nil || y.VideoCodec == "copy" || y.VideoCodec == "h264" && y.AudioCodec == "pcm" {
		return Takes{}
	}
	t := Takes{PerSecond: y.VideoBitrate + y.soundRate()}
	switch {
	case y.VideoBitrate > 0:
	case y.VideoCodec == "prores":
		t.PerPixel = float64(y.prores().rate) / (1920 * 1080 * 25)
	default:
		quality := y.Quality
		if quality == 0 {
			quality = 65
		}
		t.PerPixel = perPixel[y.VideoCodec] * math.Exp2(float64(quality-65)*0.45/6)
	}
	return t
}

func (y yielded) soundRate() int64 {
	codec, rate := y.AudioCodec, y.AudioBitrate+y.Bitrate
	if codec == "" {
		codec = y.Codec
	}
	switch {
	case codec == "" || codec == "none":
		return 0
	case rate > 0:
		return rate
	case codec == "pcm":
		return 2 * 48_000 * 24
	}
	return usualSound
}
