package main

import (
	"testing"

	"rendermac/api"
)

func TestDescribe_AsPeopleSpeakOfFiles(t *testing.T) {
	for want, m := range map[string]api.Media{
		"mov, 1m14s; h264 1080×1920, 29.97 fps, turned by 90°; aac stereo, 48 kHz (eng); timecode": {
			ReadBy: "server", Container: "mov", DurationS: 73.6, Streams: []api.MediaStream{
				{Kind: "video", Codec: "h264", Width: 1080, Height: 1920, FPS: 29.97, BitDepth: 8, Rotation: 90},
				{Kind: "audio", Codec: "aac", Channels: 2, SampleRate: 48000, Language: "eng"},
				{Kind: "timecode"},
				{Kind: "data"},
			},
		},
		"matroska, 2.5 s; hevc 3840×2160, 24 fps, 10 bits, HDR (PQ); pcm 6 channels, 44.1 kHz; cover art; subtitles (deu); read by the device": {
			ReadBy: "agent", Container: "matroska", DurationS: 2.5, Streams: []api.MediaStream{
				{Kind: "video", Codec: "hevc", Width: 3840, Height: 2160, FPS: 24, BitDepth: 10, Color: api.MediaColor{Transfer: "smpte2084"}},
				{Kind: "audio", Codec: "pcm", Channels: 6, SampleRate: 44100, Language: "und"},
				{Kind: "video", AttachedPic: true},
				{Kind: "subtitle", Language: "deu"},
			},
		},
		"png; png 64×36; bytes follow": {Container: "png", Oddity: "bytes follow", Streams: []api.MediaStream{{Kind: "video", Codec: "png", Width: 64, Height: 36}}},
	} {
		if got := describe(&m); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
