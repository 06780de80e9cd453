package web

import (
	"fmt"
	"strings"
	"testing"
)

func TestPreset_SaysWhatItYieldsAndHowLarge(t *testing.T) {
	for params, want := range map[string]struct {
		yields, scene string
		takes         Takes
	}{
		`{"video_codec":"h264","audio_codec":"aac","width":1920,"height":1080,"quality":65,"audio_bitrate":160000}`:               {"H.264 up to 1080p, AAC 160 kbit/s", "18×10", Takes{0.09, 160_000}},
		`{"video_codec":"h264","audio_codec":"aac","width":1080,"height":1920,"quality":65,"audio_bitrate":160000,"fit":"cover"}`: {"H.264 1080×1920 with its edges cut, AAC 160 kbit/s", "10×18", Takes{0.09, 160_000}},
		`{"video_codec":"h264","audio_codec":"pcm","width":1280,"height":720,"quality":50}`:                                       {"H.264 up to 720p, PCM", "12×7", Takes{}},
		`{"video_codec":"hevc","audio_codec":"copy"}`:                                                                             {"HEVC at full size, sound as it is", "36×20", Takes{0.055, 192_000}},
		`{"video_codec":"hevc","audio_codec":"none","video_bitrate":8000000,"width":640}`:                                         {"HEVC up to 640 px, no sound, about 60 MB a minute", "6×3", Takes{0, 8_000_000}},
		`{"video_codec":"prores","audio_codec":"none","quality":20,"width":7680,"height":4320}`:                                   {"ProRes Proxy up to 4320p, no sound", "36×20", Takes{38e6 / (1920 * 1080 * 25.0), 0}},
		`{"video_codec":"none","audio_codec":"aac","audio_bitrate":128000}`:                                                       {"AAC 128 kbit/s, about 960 kB a minute", "sound", Takes{0, 128_000}},
		`{"codec":"pcm","loudness_lufs":-23,"channels":1}`:                                                                        {"PCM, at −23 LUFS", "sound", Takes{0, 2_304_000}},
		`{"video_codec":"copy","audio_codec":"copy"}`:                                                                             {"The picture as it is, sound as it is", "36×20", Takes{}},
	} {
		p := OfferPreset{Params: []byte(params)}
		scene := "sound"
		if s := p.Scene(); !s.Sound {
			scene = fmt.Sprintf("%.0f×%.0f", s.W, s.H)
		}
		if p.Yields() != want.yields || scene != want.scene || p.Takes() != want.takes {
			t.Errorf("%s\nyields %q, %s, %v\nwant   %q, %s, %v", params, p.Yields(), scene, p.Takes(), want.yields, want.scene, want.takes)
		}
	}
}

// What the schema says of a param, the form asks for, also where a later version
// has one that has no words here yet.
func TestOffer_AsksForWhatItsSchemaNames(t *testing.T) {
	o := Offer{Name: "a.b", Schema: []byte(`{"required":["fps"],"properties":{
		"preset":{"type":"string","enum":["x"]},
		"new_thing":{"type":"boolean","description":"does it","default":true},
		"width":{"type":"integer","minimum":2,"maximum":16384},
		"fit":{"type":"string","enum":["contain","cover"],"default":"contain"},
		"video_bitrate":{"type":["integer","string"],"pattern":"^[0-9]+[kM]?$"},
		"fps":{"type":"number","minimum":0.5}}}`)}
	needed, err := o.Needed()
	if err != nil || len(needed) != 1 || needed[0].Name != "fps" || needed[0].Kind != "number" || needed[0].Min != "0.5" {
		t.Errorf("it needs %+v, %v", needed, err)
	}
	groups, err := o.Groups()
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, g := range groups {
		for _, f := range g.Fields {
			said = append(said, fmt.Sprint(g.Title, ": ", f.Label, ", ", f.Kind, " ", f.Options, f.Min, f.Max, f.Default))
		}
	}
	want := `Picture: Width, whole []216384
Picture: Fit, choice [contain cover]contain
Picture: Picture bitrate, rate []
File: New thing, yes []true`
	if got := strings.Join(said, "\n"); got != want {
		t.Errorf("it asks for\n%s\nand not for\n%s", got, want)
	}
}
