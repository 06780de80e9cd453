package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rendermac/api"
)

// mediaFacts are a job's inputs as people speak of files.
func mediaFacts(j *api.Job) (facts [][2]string) {
	for i, m := range j.InputMedia {
		name := "media"
		if len(j.InputMedia) > 1 {
			name = "media " + strconv.Itoa(i+1)
		}
		said := "nobody could read it yet"
		if m != nil {
			said = describe(m)
		}
		facts = append(facts, [2]string{name, said})
	}
	return facts
}

// describe says what a file holds in one line: mov, 12.0 s; h264 1920×1080, 25
// fps; aac stereo, 48 kHz.
func describe(m *api.Media) string {
	parts := []string{cmp.Or(m.Container, "unknown kind")}
	if m.DurationS > 0 {
		parts[0] += ", " + lengthOf(m.DurationS)
	}
	for _, s := range m.Streams {
		if said := describeStream(s); said != "" {
			parts = append(parts, said)
		}
	}
	if m.ReadBy == "agent" {
		parts = append(parts, "read by the device")
	}
	if m.Oddity != "" {
		parts = append(parts, m.Oddity)
	}
	return strings.Join(parts, "; ")
}

func describeStream(s api.MediaStream) string {
	switch {
	case s.AttachedPic:
		return "cover art"
	case s.Kind == "video":
		return picture(s)
	case s.Kind == "audio":
		return fmt.Sprintf("%s %s, %s kHz", codecOf(s), channels(s.Channels), plainNumber(float64(s.SampleRate)/1000)) + spoken(s)
	case s.Kind == "subtitle":
		return "subtitles" + spoken(s)
	case s.Kind == "timecode":
		return "timecode"
	}
	return "" // data says nothing to people
}

func picture(s api.MediaStream) string {
	said := fmt.Sprintf("%s %d×%d", codecOf(s), s.Width, s.Height)
	if s.FPS > 0 {
		said += fmt.Sprintf(", %s fps", plainNumber(s.FPS))
	}
	if s.BitDepth > 8 {
		said += fmt.Sprintf(", %d bits", s.BitDepth)
	}
	switch s.Color.Transfer {
	case "smpte2084":
		said += ", HDR (PQ)"
	case "arib-std-b67":
		said += ", HDR (HLG)"
	}
	if s.Rotation != 0 {
		said += fmt.Sprintf(", turned by %d°", s.Rotation)
	}
	return said
}

func codecOf(s api.MediaStream) string { return cmp.Or(s.Codec, "unknown "+s.Kind) }

func channels(n int) string {
	switch n {
	case 1:
		return "mono"
	case 2:
		return "stereo"
	}
	return strconv.Itoa(n) + " channels"
}

func spoken(s api.MediaStream) string {
	if s.Language == "" || s.Language == "und" {
		return ""
	}
	return " (" + s.Language + ")"
}

// lengthOf is one in seconds below a minute, in hours and minutes above.
func lengthOf(seconds float64) string {
	if seconds < 60 {
		return strconv.FormatFloat(seconds, 'f', 1, 64) + " s"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
