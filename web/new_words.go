package web

import (
	"cmp"
	"slices"
	"strings"
)

// paramWords is how a param is called, and among which it stands.
type paramWords struct{ name, group, label, unit string }

// knownParams stand in the order of the form.
var knownParams = []paramWords{
	{"composition", "Picture", "Composition", ""},
	{"props", "Picture", "Input props", "JSON"},
	{"video_codec", "Picture", "Picture codec", ""},
	{"width", "Picture", "Width", "px"},
	{"height", "Picture", "Height", "px"},
	{"fit", "Picture", "Fit", ""},
	{"fps", "Picture", "Frames a second", "fps"},
	{"quality", "Picture", "Quality", "1–100"},
	{"video_bitrate", "Picture", "Picture bitrate", "bit/s"},
	{"tonemap", "Picture", "Tone-mapping", ""},
	{"burn_timecode", "Picture", "Draw the timecode into the picture", ""},
	{"scale", "Picture", "Scale", "×"},
	{"columns", "Picture", "Columns", ""},
	{"rows", "Picture", "Rows", ""},
	{"format", "Picture", "Format", ""},
	{"audio_codec", "Sound", "Sound codec", ""},
	{"codec", "File", "Codec", ""},
	{"audio_bitrate", "Sound", "Sound bitrate", "bit/s"},
	{"bitrate", "Sound", "Bitrate", "bit/s"},
	{"loudness_lufs", "Sound", "Loudness", "LUFS"},
	{"channels", "Sound", "Channels", ""},
	{"sample_rate", "Sound", "Sample rate", "Hz"},
	{"audio_tracks", "Sound", "Sound tracks", ""},
	{"at_s", "Time", "At", "s"},
	{"at_fraction", "Time", "At this share of the film", "0–1"},
	{"start_s", "Time", "Skip at the start", "s"},
	{"duration_s", "Time", "Keep", "s"},
	{"frame_range", "Time", "Frames", ""},
	{"container", "File", "Container", ""},
	{"subtitles", "File", "Subtitles", ""},
	{"damaged_input", "File", "Damaged input", ""},
	{"encoder", "File", "Encoder", ""},
	{"concurrency", "File", "Browser tabs at once", ""},
}

var groupOrder = []string{"Picture", "Sound", "Time", "File"}

// wordsOfParam are for a param of a later version its name.
func wordsOfParam(name string) paramWords {
	if at := paramPlace(name); at < len(knownParams) {
		return knownParams[at]
	}
	return paramWords{name: name, group: "File", label: Sentence(strings.ReplaceAll(name, "_", " "))}
}

func paramPlace(name string) int {
	at := slices.IndexFunc(knownParams, func(w paramWords) bool { return w.name == name })
	if at < 0 {
		return len(knownParams)
	}
	return at
}

func compareParams(a, b string) int {
	group := func(name string) int { return slices.Index(groupOrder, wordsOfParam(name).group) }
	return cmp.Or(cmp.Compare(group(a), group(b)), cmp.Compare(paramPlace(a), paramPlace(b)), cmp.Compare(a, b))
}
