package web

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// yielded is as much of a preset's params as is said of it.
type yielded struct {
	VideoCodec   string  `json:"video_codec"`
	AudioCodec   string  `json:"audio_codec"`
	Codec        string  `json:"codec"`
	Width        int     `json:"width"`
	Height       int     `json:"height"`
	Fit          string  `json:"fit"`
	FPS          float64 `json:"fps"`
	Quality      int     `json:"quality"`
	VideoBitrate int64   `json:"video_bitrate"`
	AudioBitrate int64   `json:"audio_bitrate"`
	Bitrate      int64   `json:"bitrate"`
	LoudnessLUFS float64 `json:"loudness_lufs"`
	Channels     int     `json:"channels"`
}

// Yields says what comes of a preset, by its params, or nothing where they say
// nothing that is known here.
func (p OfferPreset) Yields() string { return p.Makes() + p.Size() }

// Makes is Yields without the size.
func (p OfferPreset) Makes() string {
	var y yielded
	if json.Unmarshal(p.Params, &y) != nil {
		return ""
	}
	parts := []string{y.picture(), y.sound()}
	if y.FPS > 0 {
		parts = append(parts, strconv.FormatFloat(y.FPS, 'f', -1, 64)+" fps")
	}
	if y.LoudnessLUFS < 0 {
		parts = append(parts, "at −"+strconv.FormatFloat(-y.LoudnessLUFS, 'f', -1, 64)+" LUFS")
	}
	said := slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return Sentence(strings.Join(said, ", "))
}

// Size goes on from Makes where the params alone make it.
func (p OfferPreset) Size() string {
	var y yielded
	if json.Unmarshal(p.Params, &y) != nil || y.size() == "" {
		return ""
	}
	return ", " + y.size()
}

func (y yielded) picture() string {
	switch y.VideoCodec {
	case "none", "":
		return ""
	case "copy":
		return "the picture as it is"
	}
	return y.codec() + " " + y.box()
}

func (y yielded) codec() string {
	if y.VideoCodec != "prores" {
		return codecNames[y.VideoCodec]
	}
	return "ProRes " + y.prores().name
}

// box says the size as people call it.
func (y yielded) box() string {
	switch {
	case y.Width == 0 && y.Height == 0:
		return "at full size"
	case y.Width == 0 || y.Height == 0:
		return fmt.Sprintf("up to %d px", max(y.Width, y.Height))
	case y.Fit == "cover":
		return fmt.Sprintf("%d×%d with its edges cut", y.Width, y.Height)
	case math.Abs(float64(y.Width)/float64(y.Height)-16.0/9) < 0.01:
		return fmt.Sprintf("up to %dp", y.Height)
	}
	return fmt.Sprintf("up to %d×%d", y.Width, y.Height)
}

func (y yielded) sound() string {
	codec, rate := y.AudioCodec, y.AudioBitrate
	if y.VideoCodec == "" && codec == "" {
		codec, rate = y.Codec, y.Bitrate
	}
	switch {
	case codec == "copy":
		return "sound as it is"
	case codec == "none":
		return "no sound"
	case rate > 0:
		return fmt.Sprintf("%s %d kbit/s", codecNames[codec], rate/1000)
	}
	return codecNames[codec]
}

// size is said where the params alone make it: by quality it hangs on the film.
func (y yielded) size() string {
	rate := y.AudioBitrate + y.Bitrate
	where := ""
	switch {
	case y.VideoCodec == "prores" && y.Width == 0 && y.Height == 0:
		rate, where = y.prores().rate, " of 1080p25"
	case y.VideoBitrate > 0:
		rate += y.VideoBitrate
	case y.VideoCodec != "" && y.VideoCodec != "none" || rate == 0:
		return ""
	}
	return "about " + Bytes(rate*60/8) + " a minute" + where
}

// prores is what a quality means there, with Apple's rate for 1920×1080 at 25 fps.
func (y yielded) prores() struct {
	name string
	rate int64
} {
	kinds := []struct {
		name string
		rate int64
	}{{"Proxy", 38e6}, {"LT", 85e6}, {"422", 122e6}, {"HQ", 184e6}}
	switch {
	case y.Quality == 0:
		return kinds[2]
	case y.Quality <= 25:
		return kinds[0]
	case y.Quality <= 50:
		return kinds[1]
	case y.Quality <= 75:
		return kinds[2]
	}
	return kinds[3]
}
