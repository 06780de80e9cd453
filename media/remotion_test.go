package media

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"rendermac/media/probe"
)

func TestRemotion_RefusesAndNamesThePlace(t *testing.T) {
	large := `{"composition":"Main","props":{"a":"` + strings.Repeat("x", maxObject) + `"}}`
	for params, want := range map[string]string{
		`{}`:                                         "params.composition is required",
		`{"composition":""}`:                         "params.composition must be a composition's id",
		`{"composition":"--props=/etc/passwd"}`:      "params.composition must be a composition's id",
		`{"composition":"a b"}`:                      "params.composition must be a composition's id",
		`{"composition":"../x"}`:                     "params.composition must be a composition's id",
		`{"composition":"Main","props":[1]}`:         "params.props must be a JSON object",
		`{"composition":"Main","props":"{}"}`:        "params.props must be a JSON object",
		`{"composition":"Main","props":null}`:        "params.props must be a JSON object",
		large:                                        "params.props must be at most 262144 bytes of JSON",
		`{"composition":"Main","codec":"vp9"}`:       "params.codec must be one of h264, hevc, prores",
		`{"composition":"Main","scale":17}`:          "params.scale must be from 0.05 to 16",
		`{"composition":"Main","concurrency":0}`:     "params.concurrency must be from 1 to 256",
		`{"composition":"Main","frame_range":"5"}`:   "params.frame_range must be like 0-99, or 100- for all that follow",
		`{"composition":"Main","frame_range":"-5"}`:  "params.frame_range must be like 0-99, or 100- for all that follow",
		`{"composition":"Main","frame_range":"9-5"}`: "params.frame_range ends before it begins",
	} {
		_, faults := catalogued(t, "remotion.render").Resolve(json.RawMessage(params))
		if len(faults) != 1 || !strings.HasPrefix(faults[0].Location+" "+faults[0].Message, want) {
			t.Errorf("%.80s: %v, want %s", params, faults, want)
		}
	}
}

func TestRemotion_PropsStayAsTheyAre(t *testing.T) {
	const props = `{"title":"Löwe \"1\"","n":12345678901234567890,"a":{"b":[null,1.50]}}`
	once := resolvedFor(t, catalogued(t, "remotion.render"), `{"composition":"Main","props":`+props+`}`)
	twice := resolvedFor(t, catalogued(t, "remotion.render"), string(once))
	if string(once) != string(twice) || !strings.Contains(string(once), props) {
		t.Errorf("once  %s\ntwice %s", once, twice)
	}
}

func remotionPlan(t *testing.T, params string, files ...string) (Plan, error) {
	t.Helper()
	s := catalogued(t, "remotion.render")
	env := Env{OutPath: "/w/out.mp4", CPUs: 10, Browser: "/w/browser"}
	return s.Plan(resolvedFor(t, s, params), []Input{{Path: "/w/in", Files: files}}, env)
}

func TestRemotion_Argv(t *testing.T) {
	for params, want := range map[string]string{
		`{"composition":"Main"}`: "render /w/in Main /w/out.mp4 --browser-executable=/w/browser --concurrency=5 --codec=h264 --color-space=bt709 --timeout=30000",
		`{"composition":"中文-1","props":{"a":1},"codec":"hevc","scale":0.5,"concurrency":99,"frame_range":"10-"}`: "render /w/in 中文-1 /w/rendered.mp4 --browser-executable=/w/browser --concurrency=10 " +
			"--props=/w/props.json --codec=h265 --color-space=bt709 --timeout=30000 --scale=0.5 --frames=10-",
	} {
		plan, err := remotionPlan(t, params, "index.html", "bundle.js")
		if got := strings.Join(plan.Args, " "); err != nil || got != want || plan.Program != Remotion {
			t.Errorf("%s\n got %s (%v)\nwant %s", params, got, err, want)
		}
		if hasProps := strings.Contains(params, "props"); hasProps != (len(plan.Files) == 1) || hasProps && string(plan.Files[0].Content) != `{"a":1}` {
			t.Errorf("%s: files %v", params, plan.Files)
		}
	}
}

// Without an index.html Remotion would bundle, and so run, what it finds.
func TestRemotion_BundleIsTheFolderWithIndexHTML(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"a.js", "index.html", "public/index.html"}, "/w/in"},
		{[]string{"__MACOSX/index.html", "bundle/a.js", "bundle/index.html"}, "/w/in/bundle"},
		{[]string{"a/index.html", "b/index.html"}, ""},
		{[]string{"a/b/index.html"}, ""},
		{[]string{"package.json", "src/index.ts"}, ""},
		{[]string{"Index.html"}, ""},
		{nil, ""},
	} {
		plan, err := remotionPlan(t, `{"composition":"Main"}`, c.files...)
		if (err == nil) != (c.want != "") || err == nil && plan.Args[1] != c.want {
			t.Errorf("%q: %q, %v, want %q", c.files, plan.Args, err, c.want)
		}
	}
}

func TestRemotion_Expects(t *testing.T) {
	said := []json.RawMessage{json.RawMessage(`{"format":"remotion","streams":[{"kind":"video","frames":60}]}`)}
	film := func(codec, tag, container string, bits int, frames int64) *probe.Media {
		return &probe.Media{Container: container, Streams: []probe.Stream{
			{Kind: "video", Codec: codec, Tag: tag, Width: 64, Height: 36, BitDepth: bits, Frames: frames},
		}}
	}
	for _, c := range []struct {
		params string
		media  *probe.Media
		wrong  string
	}{
		{`{"composition":"Main"}`, film("h264", "avc1", "mp4", 8, 60), ""},
		{`{"composition":"Main"}`, film("h264", "avc1", "mp4", 8, 59), "59 frames, not 60"},
		{`{"composition":"Main"}`, film("hevc", "hvc1", "mp4", 8, 60), "not h264"},
		{`{"composition":"Main","frame_range":"5-9"}`, film("h264", "avc1", "mp4", 8, 60), "60 frames, not 5"},
		{`{"composition":"Main","frame_range":"5-9"}`, film("h264", "avc1", "mp4", 8, 5), ""},
		{`{"composition":"Main","codec":"hevc"}`, film("hevc", "hvc1", "mp4", 8, 60), ""},
		{`{"composition":"Main","codec":"prores"}`, film("prores", "apch", "mov", 10, 60), ""},
		{`{"composition":"Main","codec":"prores"}`, film("prores", "apch", "mp4", 10, 60), "not mov"},
	} {
		s := catalogued(t, "remotion.render")
		err := s.Expect(resolvedFor(t, s, c.params), []*probe.Media{nil}, said).Check(c.media)
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", c.params, err, c.wrong)
		}
	}
}

func TestRemotion_SchemaSaysWhatIsRequired(t *testing.T) {
	var schema struct {
		Required   []string
		Properties map[string]struct{ Type, Pattern string }
	}
	if err := json.Unmarshal(catalogued(t, "remotion.render").Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(schema.Required, []string{"composition"}) || schema.Properties["props"].Type != "object" || schema.Properties["composition"].Pattern == "" {
		t.Errorf("the schema is %+v", schema)
	}
}
