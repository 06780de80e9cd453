package config

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	c := mustLoad(t, `
presets:
  review: {width: 1280, quality: 40, burn_timecode: true, video_bitrate: 4M}
  voice:
    service: ffmpeg.audio
    title: For the radio
    loudness_lufs: -23
`, nil)
	want := map[string]Preset{
		"review": {"ffmpeg.transcode", "A preset of this server's own", []byte(`{"burn_timecode":true,"quality":40,"video_bitrate":"4M","width":1280}`)},
		"voice":  {"ffmpeg.audio", "For the radio", []byte(`{"loudness_lufs":-23}`)},
	}
	if !reflect.DeepEqual(c.Presets, want) {
		t.Errorf("got %s, want %s", c.Presets, want)
	}
	if v := c.value(t, "presets"); v.Source != filepath.Join(c.Data, "config.yaml")+":3" {
		t.Errorf("it is shown as %+v", v)
	}
	for _, none := range []string{"", "presets: {}\n", "presets: null\n"} {
		if c := mustLoad(t, none, nil); len(c.Presets) > 0 {
			t.Errorf("%q is %v", none, c.Presets)
		}
	}
	t.Setenv("RENDERMAC_PRESETS", `{"env": {"service": "ffmpeg.sheet", "columns": 3}}`)
	if c := mustLoad(t, "", nil); string(c.Presets["env"].Params) != `{"columns":3}` || c.Presets["env"].Service != "ffmpeg.sheet" {
		t.Errorf("from the environment: %v", c.Presets)
	}
}

func TestPresets_MistakesNameKeyAndLine(t *testing.T) {
	known := func(name string, p Preset) (param, fault string) {
		switch {
		case name == "web-1080p":
			return "", "is there already"
		case p.Service != "ffmpeg.transcode":
			return "service", "is unknown"
		case strings.Contains(string(p.Params), "wdith"):
			return "wdith", "is no param"
		}
		return "", ""
	}
	for yaml, want := range map[string]string{
		"presets: [a]\n":     ":1: presets must be names with params each, such as {review: {service: ffmpeg.transcode, quality: 40}}",
		"presets:\n  a: 5\n": ":2: presets.a must hold params by name, and may hold service and title",
		"presets:\n  a: {quality: 5}\n  a: {quality: 6}\n":    ":3: presets.a stands on line 2 already: remove one",
		"presets:\n  a:\n    quality: 5\n    quality: 6\n":    ":4: presets.a.quality stands on line 3 already: remove one",
		"presets:\n  a:\n    service: 5\n":                    ":3: presets.a.service must be text",
		"presets:\n  a:\n    fps: .nan\n":                     ":3: presets.a.fps must be a value that JSON has too",
		"presets:\n  b: {quality: 5}\n  web-1080p: {a: 5}\n":  ":3: presets.web-1080p is there already",
		"presets:\n  a:\n    quality: 5\n    service: what\n": ":4: presets.a.service is unknown",
		"presets:\n  a:\n    quality: 5\n    wdith: 640\n":    ":4: presets.a.wdith is no param",
	} {
		_, err := Load(Options{Data: dataWith(t, yaml), Preset: known})
		if err == nil || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("%q:\ngot  %v\nwant …%s", yaml, err, want)
		}
	}
	t.Setenv("RENDERMAC_PRESETS", `{"a": {"wdith": 3}}`)
	if _, err := Load(Options{Data: t.TempDir(), Preset: known}); err == nil || err.Error() != "environment RENDERMAC_PRESETS: presets.a.wdith is no param" {
		t.Errorf("from the environment: %v", err)
	}
}
