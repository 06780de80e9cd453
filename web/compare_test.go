package web

import (
	"slices"
	"testing"
)

func prores() File {
	return File{Bytes: 4_812_400_000, SHA256: "9f86d081884c7d65", Media: &Media{Container: "mov", Seconds: 252.4, Tracks: []Track{
		{Kind: "video", Codec: "prores", Tag: "apch", Profile: "422 HQ", Width: 3840, Height: 2160, BitDepth: 10, Chroma: "4:2:2", FPS: 25, Primaries: "bt709", Transfer: "bt709", Matrix: "bt709"},
		{Kind: "audio", Codec: "pcm", BitDepth: 24, SampleRate: 48000, Channels: 2},
		{Kind: "timecode"},
	}}}
}

func h264() File {
	return File{Bytes: 132_700_000, ContentType: "video/mp4", Source: "/v1/jobs/job_1/output", Media: &Media{Container: "mp4", Seconds: 252.4, Tracks: []Track{
		{Kind: "video", Codec: "h264", Profile: "High", Width: 1920, Height: 1080, BitDepth: 8, Chroma: "4:2:0", FPS: 25, Primaries: "bt709", Transfer: "bt709", Matrix: "bt709"},
		{Kind: "audio", Codec: "aac", SampleRate: 48000, Channels: 2},
	}}}
}

func TestCompared_MarksWhatDiffers(t *testing.T) {
	out := h264()
	rows := Job{Inputs: []File{prores()}, Output: &out}.Compared()
	want := []Difference{
		{"Container", "mov", "mp4", true},
		{"Picture", "3840 × 2160", "1920 × 1080", true},
		{"Duration", "4:12", "4:12", false},
		{"Frame rate", "25 fps", "25 fps", false},
		{"Video", "ProRes 422 HQ, 10 bit, 4:2:2", "H.264 High, 8 bit, 4:2:0", true},
		{"Colours", "bt709", "bt709", false},
		{"Audio", "PCM 24 bit, 48 kHz, stereo", "AAC, 48 kHz, stereo", true},
		{"Other tracks", "timecode", "none", true},
		{"Size", "4.8 GB", "133 MB", true},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the rows are %+v", rows)
	}
}

// What nobody has read is not told to differ, and several inputs are no one side.
func TestCompared_MarksNothingWithoutBothSides(t *testing.T) {
	out := h264()
	for name, j := range map[string]Job{
		"no output yet":  {Inputs: []File{prores()}},
		"an unread file": {Inputs: []File{{Name: "A001.mov", Path: "rushes/A001.mov"}}, Output: &out},
		"two inputs":     {Inputs: []File{prores(), prores()}, Output: &out},
	} {
		rows := j.Compared()
		if len(rows) < 8 || slices.ContainsFunc(rows, func(d Difference) bool { return d.Differs }) {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

func TestFacts_OfOddFiles(t *testing.T) {
	f := factsOf(&File{Bytes: 12, Media: &Media{Container: "mov", Tracks: []Track{
		{Kind: "video", Codec: "mjpeg", Cover: true},
		{Kind: "video", Codec: "hevc", Width: 1080, Height: 1920, Rotation: 90, FPS: 30000.0 / 1001, Primaries: "bt2020", Transfer: "arib-std-b67", Matrix: "bt2020nc"},
		{Kind: "audio", Codec: "aac", SampleRate: 44100, Channels: 1},
		{Kind: "audio", Codec: "aac", Channels: 6},
		{Kind: "audio", Codec: "aac"},
		{Kind: "subtitle"},
	}}})
	for name, want := range (facts{
		"Picture": "1080 × 1920 (turned by 90°)", "Frame rate": "29.97 fps", "Colours": "bt2020 / arib-std-b67 / bt2020nc",
		"Audio": "AAC, 44.1 kHz, mono", "Other tracks": "cover, 2 × audio and subtitle", "Duration": "", "Size": "12 bytes",
	}) {
		if f[name] != want {
			t.Errorf("%s is %q, want %q", name, f[name], want)
		}
	}
}
