package media

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"rendermac/media/probe"
)

func TestResolve_PresetExplicitDefault(t *testing.T) {
	for _, c := range []struct{ name, params, want string }{
		{"nothing", ``, `{"video_codec":"h264","audio_codec":"aac","container":"mp4","quality":65}`},
		{"null", `null`, `{"video_codec":"h264","audio_codec":"aac","container":"mp4","quality":65}`},
		{"a preset", `{"preset":"web-480p"}`, `{"preset":"web-480p","video_codec":"h264","audio_codec":"aac","container":"mp4","width":854,"height":480,"quality":65,"audio_bitrate":96000,"boxed":true}`},
		{"explicit wins", `{"quality":80,"preset":"web-720p"}`, `{"preset":"web-720p","video_codec":"h264","audio_codec":"aac","container":"mp4","width":1280,"height":720,"quality":80,"audio_bitrate":128000,"boxed":true}`},
		{"a side replaces the box", `{"preset":"web-720p","width":640}`, `{"preset":"web-720p","video_codec":"h264","audio_codec":"aac","container":"mp4","width":640,"quality":65,"audio_bitrate":128000}`},
		{"bit rate replaces quality", `{"preset":"web-720p","video_bitrate":"4M"}`, `{"preset":"web-720p","video_codec":"h264","audio_codec":"aac","container":"mp4","width":1280,"height":720,"video_bitrate":4000000,"audio_bitrate":128000,"boxed":true}`},
		{"prores goes into mov", `{"preset":"prores-proxy"}`, `{"preset":"prores-proxy","video_codec":"prores","audio_codec":"pcm","container":"mov","quality":20}`},
		{"a codec moves the container", `{"preset":"web-720p","video_codec":"prores"}`, `{"preset":"web-720p","video_codec":"prores","audio_codec":"aac","container":"mov","width":1280,"height":720,"quality":65,"audio_bitrate":128000,"boxed":true}`},
		{"sound only", `{"preset":"podcast-m4a"}`, `{"preset":"podcast-m4a","video_codec":"none","audio_codec":"aac","container":"m4a","audio_bitrate":128000}`},
		{"sound of a film", `{"preset":"web-720p","video_codec":"none"}`, `{"preset":"web-720p","video_codec":"none","audio_codec":"aac","container":"m4a","audio_bitrate":128000}`},
		{"pcm sound goes into mov", `{"video_codec":"none","audio_codec":"pcm"}`, `{"video_codec":"none","audio_codec":"pcm","container":"mov"}`},
		{"an edit proxy", `{"preset":"edit-proxy-h264","audio_codec":"aac"}`, `{"preset":"edit-proxy-h264","video_codec":"h264","audio_codec":"aac","container":"mov","width":1280,"height":720,"quality":50,"boxed":true,"edit_proxy":true}`},
		{"an edit proxy of another codec", `{"preset":"edit-proxy-h264","video_codec":"prores"}`, `{"preset":"edit-proxy-h264","video_codec":"prores","audio_codec":"pcm","container":"mov","width":1280,"height":720,"quality":50,"boxed":true}`},
		{"an archive", `{"preset":"archive-hevc"}`, `{"preset":"archive-hevc","video_codec":"hevc","audio_codec":"copy","container":"mp4","quality":80,"else_audio":"alac"}`},
		{"an archive that must copy", `{"preset":"archive-hevc","audio_codec":"copy"}`, `{"preset":"archive-hevc","video_codec":"hevc","audio_codec":"copy","container":"mp4","quality":80}`},
		{"social, wholly seen", `{"preset":"social-1x1","fit":"contain"}`, `{"preset":"social-1x1","video_codec":"h264","audio_codec":"aac","container":"mp4","width":1080,"height":1080,"quality":65,"audio_bitrate":160000,"boxed":true}`},
		{"copy", `{"video_codec":"copy","audio_codec":"copy"}`, `{"video_codec":"copy","audio_codec":"copy","container":"mp4"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := map[string]any{"fit": "contain", "encoder": "auto", "tonemap": "auto", "audio_tracks": "first", "subtitles": "drop", "damaged_input": "reject"}
			var got map[string]any
			json.Unmarshal([]byte(c.want), &want)
			json.Unmarshal(mustResolve(t, c.params), &got)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %v\nwant %v", got, want)
			}
		})
	}
}

func TestResolve_RefusesAndNamesThePlace(t *testing.T) {
	for _, c := range []struct {
		params string
		want   []string // locations, sorted
	}{
		{`[]`, []string{"params"}},
		{`"web-1080p"`, []string{"params"}},
		{`{"width":`, []string{"params"}},
		{`{"wdith":640}`, []string{"params.wdith"}},
		{`{"Width":640}`, []string{"params.Width"}},
		{`{"-vf scale":1}`, []string{"params"}},
		{`{"width":"640"}`, []string{"params.width"}},
		{`{"width":640.5}`, []string{"params.width"}},
		{`{"width":null}`, []string{"params.width"}},
		{`{"width":0}`, []string{"params.width"}},
		{`{"width":-2}`, []string{"params.width"}},
		{`{"width":1e30}`, []string{"params.width"}},
		{`{"width":640,"width":640}`, []string{"params.width"}},
		{`{"fps":0}`, []string{"params.fps"}},
		{`{"fps":"25"}`, []string{"params.fps"}},
		{`{"quality":101}`, []string{"params.quality"}},
		{`{"start_s":-1}`, []string{"params.start_s"}},
		{`{"burn_timecode":"yes"}`, []string{"params.burn_timecode"}},
		{`{"preset":"web-9000p"}`, []string{"params.preset"}},
		{`{"preset":"web-1080p\u0000"}`, []string{"params.preset"}},
		{`{"preset":"web-1080p\n"}`, []string{"params.preset"}},
		{`{"video_codec":"libx264"}`, []string{"params.video_codec"}},
		{`{"video_bitrate":"fast"}`, []string{"params.video_bitrate"}},
		{`{"video_bitrate":"4M -vf x"}`, []string{"params.video_bitrate"}},
		{`{"video_bitrate":[]}`, []string{"params.video_bitrate"}},
		{`{"audio_bitrate":"999999M"}`, []string{"params.audio_bitrate"}},
		{`{"damaged_input":true}`, []string{"params.damaged_input"}},
		{`{"wdith":1,"quality":0,"fps":"x"}`, []string{"params.fps", "params.quality", "params.wdith"}},
		// Pairs that exclude each other.
		{`{"video_codec":"prores","container":"mp4"}`, []string{"params.container"}},
		{`{"audio_codec":"pcm","container":"mp4"}`, []string{"params.container"}},
		{`{"container":"m4a"}`, []string{"params.container"}},
		{`{"video_codec":"copy","width":640}`, []string{"params.width"}},
		{`{"video_codec":"copy","height":640,"fps":25,"quality":3,"burn_timecode":true}`, []string{"params.burn_timecode", "params.fps", "params.height", "params.quality"}},
		{`{"preset":"web-1080p","video_codec":"copy"}`, []string{"params.height", "params.width"}},
		{`{"video_codec":"none","audio_codec":"none"}`, []string{"params.audio_codec"}},
		{`{"video_codec":"none","width":640,"subtitles":"keep"}`, []string{"params.subtitles", "params.width"}},
		{`{"preset":"podcast-m4a","quality":50}`, []string{"params.quality"}},
		{`{"quality":50,"video_bitrate":1000000}`, []string{"params.video_bitrate"}},
		{`{"preset":"prores-proxy","video_bitrate":1000000}`, []string{"params.video_bitrate"}},
		{`{"preset":"prores-proxy","container":"mp4","width":-1}`, []string{"params.container", "params.container", "params.width"}},
		{`{"preset":"web-1080p","boxed":true}`, []string{"params.boxed"}},
		{`{"preset":"archive-hevc","else_audio":"pcm"}`, []string{"params.else_audio"}},
		{`{"preset":"archive-hevc","quality":80,"container":"m4a"}`, []string{"params.container"}},
		{`{"preset":"prores-422","container":"mp4"}`, []string{"params.container", "params.container"}},
		{`{"preset":"edit-proxy-h264","container":"mp4"}`, []string{"params.container"}},
		{`{"preset":"social-9x16","video_codec":"copy"}`, []string{"params.fit", "params.height", "params.width"}},
		{`{"preset":"prores-proxy","audio_bitrate":128000}`, []string{"params.audio_bitrate"}},
	} {
		resolved, faults := service(t).Resolve(json.RawMessage(c.params))
		var got []string
		for _, f := range faults {
			got = append(got, f.Location)
			if f.Message == "" || strings.ContainsFunc(f.Message+f.Location, isControl) {
				t.Errorf("%s: no sentence in %q", c.params, f)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || resolved != nil {
			t.Errorf("%s\n got %v (%s)\nwant %v", c.params, got, resolved, c.want)
		}
	}
}

// Whatever is resolved stays as it is when a Mac takes it, and obeys the schema's
// own bounds.
func TestAccept_ChangesNothing(t *testing.T) {
	enum := func(rt *rapid.T, name string, values ...string) (string, any) {
		return name, rapid.SampledFrom(values).Draw(rt, name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		params := map[string]any{}
		for range rapid.IntRange(0, 6).Draw(rt, "n") {
			var name string
			var value any
			switch rapid.IntRange(0, 8).Draw(rt, "which") {
			case 0:
				name, value = enum(rt, "preset", presetNames(service(t))...)
			case 1:
				name, value = enum(rt, "video_codec", "h264", "hevc", "prores", "copy", "none")
			case 2:
				name, value = enum(rt, "audio_codec", "aac", "alac", "pcm", "copy", "none")
			case 3:
				name, value = enum(rt, "container", "mp4", "mov", "m4a")
			case 4:
				name, value = enum(rt, "fit", "contain", "cover", "stretch")
			case 5:
				name, value = "width", rapid.IntRange(2, 4000).Draw(rt, "width")
			case 6:
				name, value = "quality", rapid.IntRange(1, 100).Draw(rt, "quality")
			case 7:
				name, value = "video_bitrate", rapid.SampledFrom([]any{"4M", "500k", 1_000_000}).Draw(rt, "bitrate")
			case 8:
				name, value = "audio_bitrate", 96_000
			}
			params[name] = value
		}
		raw, _ := json.Marshal(params)
		once, faults := service(t).Resolve(raw)
		if len(faults) > 0 {
			return
		}
		twice, faults := service(t).Accept(once)
		if len(faults) > 0 || string(once) != string(twice) {
			rt.Fatalf("%s\nonce  %s\ntwice %s %v", raw, once, twice, faults)
		}
	})
}

func presetNames(s *Service) (names []string) {
	for _, p := range s.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func TestSchema_SaysWhatResolveDoes(t *testing.T) {
	var schema struct {
		Type       string
		Additional *bool `json:"additionalProperties"`
		Properties map[string]struct {
			Type        any
			Enum        []string
			Default     any
			Description string
			Minimum     *float64
			Maximum     *float64
		}
	}
	if err := json.Unmarshal(service(t).Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Type != "object" || schema.Additional == nil || *schema.Additional {
		t.Error("the schema lets unknown params pass")
	}
	names := "preset video_codec audio_codec container width height fit fps quality video_bitrate audio_bitrate " +
		"start_s duration_s encoder tonemap audio_tracks subtitles burn_timecode damaged_input"
	for _, name := range strings.Fields(names) {
		p, ok := schema.Properties[name]
		if !ok || p.Description == "" || p.Type == nil {
			t.Errorf("%s: not described: %+v", name, p)
		}
		for _, value := range p.Enum {
			raw, _ := json.Marshal(map[string]string{name: value})
			_, faults := service(t).Resolve(raw)
			for _, f := range faults {
				if strings.HasPrefix(f.Message, "must be one of") {
					t.Errorf("%s: the schema allows what Resolve refuses: %v", raw, f)
				}
			}
		}
	}
	if len(schema.Properties) != len(strings.Fields(names)) {
		t.Errorf("the schema has %d params", len(schema.Properties))
	}
	for _, p := range service(t).Presets() {
		if !slices.Contains(schema.Properties["preset"].Enum, p.Name) {
			t.Errorf("preset %s is missing from the schema", p.Name)
		}
		if _, faults := service(t).Resolve(p.Params); len(faults) > 0 {
			t.Errorf("preset %s has params that are no params: %v", p.Name, faults)
		}
	}
}

func TestNeeds(t *testing.T) {
	hdr := probed(sample(t, "04_hevc10_hdr10.mov"))
	for _, c := range []struct {
		params string
		hdr    bool
		want   []string
	}{
		{`{"preset":"web-1080p"}`, false, []string{}},
		{`{"preset":"web-1080p"}`, true, []string{"zscale"}},
		{`{"preset":"web-1080p","tonemap":"off"}`, true, []string{}},
		{`{"preset":"prores-proxy"}`, true, []string{}},
		{`{"preset":"web-1080p","burn_timecode":true}`, true, []string{"drawtext", "zscale"}},
		{`{"video_codec":"hevc"}`, true, []string{"hevc"}},
		{`{"video_codec":"hevc","encoder":"software"}`, false, []string{"libx265"}},
		{`{"video_codec":"h264","encoder":"hardware"}`, false, []string{"videotoolbox_h264"}},
		{`{"preset":"podcast-m4a"}`, false, []string{}},
	} {
		in := []*probe.Media{nil}
		if c.hdr {
			in[0] = hdr
		}
		if got := service(t).Needs(mustResolve(t, c.params), in...); !slices.Equal(got, c.want) {
			t.Errorf("%s: needs %v, want %v", c.params, got, c.want)
		}
	}
}
