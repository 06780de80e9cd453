package media

import (
	"fmt"
	"strings"
	"testing"
)

// Each place shows the frame of the middle of its share; a film of fewer frames
// leaves the last places empty.
func TestSheet_ShowsItsFrames(t *testing.T) {
	for _, c := range []struct {
		name, params string
		make         []string
		frames       []int
	}{
		{"mp4", `{"columns":3,"rows":1,"width":400}`, []string{"in.mp4", "-c:v", "libx264", "-qp", "1", "-bf", "2"}, []int{5, 15, 25}},
		{"ts", `{"columns":2,"rows":2,"width":400}`, []string{"in.ts", "-c:v", "libx264", "-qp", "1"}, []int{3, 11, 18, 26}},
		{"two frames", `{"columns":2,"rows":2}`, []string{"in.mov", "-c:v", "mjpeg", "-q:v", "1", "-frames:v", "2"}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := countedFilm(t, c.make[0], c.make[1:]...)
			r := right(t, "ffmpeg.sheet", c.params, path)
			p := read[sheetParams]([]byte(c.params))
			columns := p.Columns
			if v := r.stream(t, "video"); v.Width != columns*68+4 || v.Height != p.Rows*68+4 || v.Codec != "mjpeg" {
				t.Errorf("it is %d×%d %s", v.Width, v.Height, v.Codec)
			}
			for i := range columns * p.Rows {
				// Near its upper edge, away from the timecode.
				grey := painted(t, r.path, [2]int{4 + i%columns*68 + 20, 4 + i/columns*68 + 12})[0][0]
				want := 0
				if i < len(c.frames) {
					want = c.frames[i] * 8
				}
				near(t, fmt.Sprint("place ", i), float64(grey), float64(want), 5)
			}
		})
	}
}

func TestSheet_Labels(t *testing.T) {
	for _, c := range []struct {
		timecode string
		fps, t   float64
		variable bool
		want     string
	}{
		{"", 25, 61.51, false, "00:01:01.480"},
		{"", 25, 3661.5, true, "01:01:01.500"},
		{"01:00:00:00", 25, 1.5, false, "01:00:01:12"},
		{"00:00:59;29", 30000.0 / 1001, 0.05, false, "00:01:00;02"},
		{"10:00:00:00", 24000.0 / 1001, 10.0, false, "10:00:09:23"},
		{"'; no timecode", 25, 1, false, "00:00:01.000"},
	} {
		s := &sheet{still: still{s: InputStream{FPS: c.fps, Variable: c.variable}, in: Input{Media: InputMedia{Timecode: c.timecode}}}, times: []float64{c.t}}
		want := strings.NewReplacer(":", `\:`, ";", `\;`).Replace(c.want)
		if got := s.label(0); !strings.HasPrefix(got, "drawtext=text='"+want+"':") {
			t.Errorf("%s after %v s: %s, want %s", c.timecode, c.t, got, c.want)
		}
	}
}

func TestSheet_OfSamples(t *testing.T) {
	for _, c := range []struct {
		sample, params string
		w, h           int
	}{
		{"05_rotate90.mp4", `{"columns":2,"rows":1,"width":200}`, 200, 175},
		{"18b_still_odd.png", `{"columns":2,"rows":2,"width":300}`, 300, 0},
	} {
		t.Run(c.sample, func(t *testing.T) {
			path := sample(t, c.sample)
			t.Parallel()
			v := right(t, "ffmpeg.sheet", c.params, path).stream(t, "video")
			if v.Width != c.w || c.h > 0 && v.Height != c.h {
				t.Errorf("it is %d×%d", v.Width, v.Height)
			}
		})
	}
}

// A film that ends before its time fails; no place stays empty for it.
func TestSheet_OfHalfAFilm(t *testing.T) {
	path := half(t, sample(t, "01_normal_h264_aac.mp4"))
	p, _, err := planService(t, "ffmpeg.sheet", `{"columns":2,"rows":1}`, path)
	if err != nil {
		return
	}
	r := result{plan: p}
	for err == nil && r.plan.Next != nil && len(r.damage) == 0 {
		said := r.pass(t)
		r.plan, err = r.plan.Next(said)
	}
	if err == nil && len(r.damage) == 0 {
		t.Error("nothing told the damage")
	}
}

func TestSheet_FitsIntoAPicture(t *testing.T) {
	p := &sheetParams{Columns: 1, Rows: 20, Width: 16384}
	for _, s := range []InputStream{{Width: 1080, Height: 1920, PixelAspect: 1}, {Width: 16000, Height: 16000, PixelAspect: 1}, {Width: 2, Height: 16000, PixelAspect: 1}} {
		if w, h := p.size(p.cell(s)); w*h > maxPixels || h > maxSide || w < 5 {
			t.Errorf("a sheet of %d×%d is %d×%d", s.Width, s.Height, w, h)
		}
	}
}

func TestSheet_NeedsAndRefuses(t *testing.T) {
	s := catalogued(t, "ffmpeg.sheet")
	if needs := s.Needs(resolvedFor(t, s, `{}`)); len(needs) != 1 || needs[0] != "drawtext" {
		t.Errorf("it needs %v", needs)
	}
	for _, params := range []string{`{"columns":0}`, `{"rows":21}`, `{"columns":12,"width":100}`, `{"format":"png"}`} {
		if _, faults := s.Resolve([]byte(params)); len(faults) != 1 {
			t.Errorf("%s: %v", params, faults)
		}
	}
}
