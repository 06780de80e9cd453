package media

import (
	"strings"
	"testing"

	"rendermac/media/probe"
)

// good is what web-480p makes of a 1920×1080 film of ten seconds with sound.
func good() *probe.Media {
	return &probe.Media{
		Container: "mp4", Faststart: true, DurationS: 10,
		Streams: []probe.Stream{
			{Kind: "video", Codec: "h264", Tag: "avc1", Profile: "High", Width: 854, Height: 480, BitDepth: 8, DurationS: 10, Color: bt709},
			{Kind: "audio", Codec: "aac", Tag: "mp4a", Channels: 2, DurationS: 10.02},
		},
	}
}

func source(width, height int) *probe.Media {
	return &probe.Media{Container: "mov", DurationS: 10, Streams: []probe.Stream{
		{Kind: "video", Codec: "prores", Width: width, Height: height, FPS: 25, DurationS: 10},
		{Kind: "audio", Codec: "pcm", DurationS: 10},
		{Kind: "timecode", Codec: "tmcd", DurationS: 10},
	}}
}

func TestExpect_RefusesWhatWasNotPromised(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*probe.Media)
		want string // "" passes
	}{
		{"as promised", func(*probe.Media) {}, ""},
		{"another container", func(m *probe.Media) { m.Container = "mov" }, `is "mov", not mp4`},
		{"no faststart", func(m *probe.Media) { m.Faststart = false }, "index (moov) lies behind"},
		{"another codec", func(m *probe.Media) { m.Streams[0].Codec = "hevc" }, `is "hevc", not h264`},
		{"another profile", func(m *probe.Media) { m.Streams[0].Profile = "High 4:4:4 Predictive" }, "has profile"},
		{"another sound", func(m *probe.Media) { m.Streams[1].Codec = "mp3" }, "not aac"},
		{"ten bits", func(m *probe.Media) { m.Streams[0].BitDepth = 10 }, "10 bits, not 8"},
		{"over the box", func(m *probe.Media) { m.Streams[0].Width = 1920; m.Streams[0].Height = 1080 }, "1920×1080, not 854×480"},
		{"wrong shape", func(m *probe.Media) { m.Streams[0].Width = 640 }, "640×480"},
		{"odd side", func(m *probe.Media) { m.Streams[0].Width = 853 }, "not even"},
		{"other colours", func(m *probe.Media) { m.Streams[0].Color.Matrix = "bt2020nc" }, "colours are tagged"},
		{"no colours", func(m *probe.Media) { m.Streams[0].Color = probe.Color{} }, "colours are tagged"},
		{"an index that does not fit together", func(m *probe.Media) { m.Oddity = "its samples overlap" }, "its samples overlap"},
		{"turned", func(m *probe.Media) { m.Streams[0].Rotation = 90 }, "not upright"},
		{"cut short", func(m *probe.Media) { m.Streams[0].DurationS = 5 }, "lasts 5.00 s"},
		{"sound cut short", func(m *probe.Media) { m.Streams[1].DurationS = 5 }, "audio lasts 5.00 s"},
		{"no sound", func(m *probe.Media) { m.Streams = m.Streams[:1] }, "lacks its audio"},
		{"no picture", func(m *probe.Media) { m.Streams = m.Streams[1:] }, "0 video streams"},
		{"two pictures", func(m *probe.Media) { m.Streams = append(m.Streams, m.Streams[0]) }, "2 video streams"},
		{"sound too much", func(m *probe.Media) { m.Streams = append(m.Streams, m.Streams[1]) }, "audio stream too many"},
		{"an image", func(m *probe.Media) { m.Container = "png" }, `is "png"`},
		{"odd names stay readable", func(m *probe.Media) { m.Streams[0].Codec = "\x1b[2J\n" }, `\x1b[2J\n`},
	} {
		m := good()
		c.bend(m)
		e := service(t).Expect(mustResolve(t, `{"preset":"web-480p"}`), []*probe.Media{source(1920, 1080)}, nil)
		err := e.Check(m)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Where nobody could read the input, the box and the codecs still hold.
func TestExpect_UnknownInput(t *testing.T) {
	e := service(t).Expect(mustResolve(t, `{"preset":"web-480p"}`), nil, nil)
	m := good()
	if err := e.Check(m); err != nil {
		t.Error(err)
	}
	m.Streams[0].Width, m.Streams[0].Height = 480, 854
	if err := e.Check(m); err != nil {
		t.Errorf("a portrait picture: %v", err)
	}
	m.Streams[0].Height = 856
	if err := e.Check(m); err == nil {
		t.Error("a picture larger than the box passed")
	}
}

func TestExpect_ProresFlavourAndTimecode(t *testing.T) {
	e := service(t).Expect(mustResolve(t, `{"preset":"prores-proxy"}`), []*probe.Media{source(1920, 1080)}, nil)
	m := &probe.Media{Container: "mov", Streams: []probe.Stream{
		{Kind: "video", Codec: "prores", Tag: "apco", Width: 1920, Height: 1080, DurationS: 10},
		{Kind: "audio", Codec: "pcm", DurationS: 10},
		{Kind: "timecode", Codec: "tmcd", DurationS: 10},
	}}
	if err := e.Check(m); err != nil {
		t.Error(err)
	}
	m.Streams[0].Tag = "apch"
	if err := e.Check(m); err == nil || !strings.Contains(err.Error(), "apco") {
		t.Errorf("ProRes HQ passed for proxy: %v", err)
	}
	m.Streams[0].Tag = "apco"
	m.Streams = m.Streams[:2]
	if err := e.Check(m); err == nil || !strings.Contains(err.Error(), "timecode") {
		t.Errorf("the timecode may get lost: %v", err)
	}
}

func TestSize_FitsTheBox(t *testing.T) {
	shape := func(w, h int) InputStream { return InputStream{Width: w, Height: h, PixelAspect: 1} }
	for _, c := range []struct {
		params string
		in     InputStream
		w, h   int
	}{
		{`{"preset":"web-1080p"}`, shape(3840, 2160), 1920, 1080},
		{`{"preset":"web-1080p"}`, shape(2160, 3840), 1080, 1920},
		{`{"preset":"web-1080p"}`, shape(1280, 720), 1280, 720},
		{`{"preset":"web-1080p"}`, shape(641, 361), 640, 360},
		{`{"preset":"web-1080p"}`, shape(4096, 1716), 1920, 804},
		{`{"preset":"web-1080p"}`, shape(2000, 2000), 1080, 1080},
		{`{"preset":"web-1080p"}`, shape(8000, 2), 1920, 2},
		{`{"preset":"web-1080p"}`, shape(1, 1), 2, 2},
		{`{"preset":"web-480p"}`, shape(1920, 1080), 854, 480},
		{`{"preset":"web-480p"}`, shape(1440, 1080), 640, 480},
		{`{"preset":"web-720p"}`, InputStream{Width: 1440, Height: 1080, PixelAspect: 4.0 / 3}, 1280, 720},
		{`{"preset":"web-720p"}`, InputStream{Width: 1920, Height: 1080, PixelAspect: 1, Rotation: 270}, 720, 1280},
		{`{"preset":"prores-proxy"}`, InputStream{Width: 720, Height: 576, PixelAspect: 16.0 / 11}, 1046, 576},
		{`{"preset":"web-720p","width":640}`, shape(1080, 1920), 640, 1138},
		{`{"height":90}`, shape(1920, 1080), 160, 90},
		{`{"width":1001,"height":501,"fit":"stretch"}`, shape(64, 64), 1000, 500},
	} {
		p := read[transcodeParams](mustResolve(t, c.params))
		if w, h := p.size(c.in); w != c.w || h != c.h {
			t.Errorf("%s of %d×%d: %d×%d, want %d×%d", c.params, c.in.Width, c.in.Height, w, h, c.w, c.h)
		}
	}
}

func TestShiftTimecode(t *testing.T) {
	for _, c := range []struct {
		tc   string
		by   float64
		fps  float64
		want string
	}{
		{"01:00:00:00", 0, 25, "01:00:00:00"},
		{"01:00:00:00", 1.2, 25, "01:00:01:05"},
		{"23:59:59:24", 0.04, 25, "00:00:00:00"},
		{"00:00:59;29", 1 / 29.97, 30000.0 / 1001, "00:01:00;02"},
		{"00:09:59;29", 1 / 29.97, 30000.0 / 1001, "00:10:00;00"},
		{"00:00:00;00", 3600, 30000.0 / 1001, "01:00:00;00"},
		{"10:00:00:00", 10, 24000.0 / 1001, "10:00:10:00"},
		{"no timecode", 1, 25, ""},
		{"01:00:00:00", 1, 0, ""},
	} {
		if got := shiftTimecode(c.tc, c.by, c.fps); got != c.want {
			t.Errorf("%s + %v s at %v: %s, want %s", c.tc, c.by, c.fps, got, c.want)
		}
	}
}
