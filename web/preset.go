package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Preset is a named set of params.
type Preset struct {
	Name, Title string
	Params      json.RawMessage
	Services    []string
	Own         bool // from this server's config
}

// codecs are said as people know them.
var codecs = map[string]string{
	"h264": "H.264", "hevc": "HEVC", "prores": "ProRes", "aac": "AAC", "alac": "ALAC", "pcm": "PCM",
}

// Yields says what comes out: "H.264 up to 1280 × 720, quality 65; AAC at 160 kbit/s".
func (p Preset) Yields() string {
	params := map[string]any{}
	if json.Unmarshal(p.Params, &params) != nil {
		return "" // nothing can be said of it
	}
	take := func(name string) any {
		value := params[name]
		delete(params, name)
		return value
	}
	said := []string{picture(take), sound(take)}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		said = append(said, other(name, params[name]))
	}
	return strings.Join(slices.DeleteFunc(said, func(text string) bool { return text == "" }), "; ")
}

func other(name string, value any) string {
	name = strings.ReplaceAll(name, "_", " ")
	switch value {
	case true:
		return name
	case false:
		return "no " + name
	}
	return fmt.Sprintf("%s %v", name, value)
}

func picture(take func(string) any) string {
	text := codec(take("video_codec"), "picture")
	if size := sizeOf(take("width"), take("height"), take("fit")); size != "" {
		text = strings.TrimSpace(text + " " + size)
	}
	if quality := take("quality"); quality != nil {
		text = strings.TrimPrefix(fmt.Sprintf("%s, quality %v", text, quality), ", ")
	}
	return text
}

func sizeOf(width, height, fit any) string {
	size := ""
	switch {
	case width != nil && height != nil:
		size = fmt.Sprintf("%v × %v", width, height)
	case width != nil:
		size = fmt.Sprintf("%v wide", width)
	case height != nil:
		size = fmt.Sprintf("%v high", height)
	}
	if size != "" {
		size = "up to " + size
	}
	if fit == "cover" {
		size = strings.TrimSpace(size + ", edges cut")
	}
	return size
}

func sound(take func(string) any) string {
	name := take("audio_codec")
	if of := take("codec"); of != nil { // so ffmpeg.audio calls it
		name = of
	}
	text := codec(name, "sound")
	for _, name := range []string{"audio_bitrate", "bitrate"} {
		if rate, is := take(name).(float64); is {
			text = strings.TrimSpace(fmt.Sprintf("%s at %g kbit/s", text, rate/1000))
		}
	}
	if loudness := take("loudness_lufs"); loudness != nil {
		text = strings.TrimPrefix(fmt.Sprintf("%s, %v LUFS", text, loudness), ", ")
	}
	return text
}

// codec says what becomes of the picture or of the sound.
func codec(name any, of string) string {
	switch name {
	case nil:
		return ""
	case "copy":
		return of + " as it is"
	case "none":
		return "no " + of
	}
	if said := codecs[fmt.Sprint(name)]; said != "" {
		return said
	}
	return fmt.Sprint(name)
}
