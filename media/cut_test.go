package media

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/media/mediatest"
)

// spoilt is what became of one spoilt copy of a file.
type spoilt struct {
	refused string // why; "" where a result was called good
	lasts   [2]float64
	size    [2]int
}

// attempt goes the agent's whole way and ends where the agent would.
func attempt(tb testing.TB, service, params, path string) spoilt {
	tb.Helper()
	s := catalogued(tb, service)
	in, err := look(path)
	if err != nil {
		return spoilt{refused: err.Error()}
	}
	env := thisDevice
	env.OutPath = filepath.Join(tb.TempDir(), "out."+s.Output(resolvedFor(tb, s, params)).Ext)
	p, err := s.Plan(resolvedFor(tb, s, params), []Input{{Path: path, Demuxer: in.Demuxer(), Media: *in}}, env)
	if err != nil {
		return spoilt{refused: err.Error()}
	}
	var stderr bytes.Buffer
	cmd := exec.Command("ffmpeg", p.Args...)
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return spoilt{refused: cmp.Or(strings.TrimSpace(stderr.String()), err.Error())}
	}
	for line := range strings.Lines(stderr.String()) {
		if DamageOf(line) {
			return spoilt{refused: line}
		}
	}
	out, err := look(env.OutPath)
	if err == nil {
		err = s.CheckOutput(p, out)
	}
	if err != nil {
		return spoilt{refused: err.Error()}
	}
	return lastsOf(out)
}

func lastsOf(m *InputMedia) (r spoilt) {
	for i, kind := range []string{"video", "audio"} {
		if list := m.of(kind); len(list) > 0 {
			r.lasts[i] = list[0].DurationS
			r.size[i] = list[0].Width
		}
	}
	return r
}

// TestCut_EveryContainer cuts each file of mediatest's folder "whole" at a place
// and spoils a twentieth of it. What remains may be refused, or lose no more
// than the contract's slack; a short result that is called good is the bug.
func TestCut_EveryContainer(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(mediatest.More(t), "whole", "*"))
	if err != nil || len(files) < 30 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	tries := 1
	if os.Getenv("RENDERMAC_SOAK") != "" {
		tries = 60
	}
	for i, file := range files {
		if tries == 1 && !slices.Contains(common, filepath.Base(file)) {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			params := soundOrFilm(t, file)
			whole := lastsOfFile(t, file)
			random := rand.New(rand.NewPCG(6, uint64(i)))
			for try := range tries {
				at := (len(data)*try + random.IntN(len(data))) / tries
				judge(t, fmt.Sprintf("cut at %d of %d", at, len(data)), invisible(file, at), params, data[:at], whole)
				if soiled := soiledAt(data, at, random); !noise[filepath.Base(file)] && try%3 == i%3 {
					judge(t, fmt.Sprintf("garbage at %d of %d", at, len(data)), false, params, soiled, whole)
				}
			}
		})
	}
}

// common are tried in each run of the suite, all in make soak.
var common = []string{
	"faststart.mp4", "fragmented.mp4", "film.mov", "film.mkv", "film.ts", "film.avi", "film.flv", "film.mpg",
	"sound.wav", "sound.ogg", "sound.mp3", "no_xing.mp3", "sound.aac", "anim.gif", "still.png",
}

// invisible are cuts that no reader can tell from an end: between transport
// packets, between the fragments of a file without an index of them, between
// the units of a raw stream.
func invisible(file string, at int) bool {
	switch filepath.Base(file) {
	case "film.ts":
		return at%188 == 0
	case "film.m2ts":
		return at%192 == 0
	case "raw.h264", "fragmented_no_index.mp4":
		return os.Getenv("RENDERMAC_SOAK") != ""
	}
	return false
}

// noise are files in which garbage is as good as any other content, or is
// covered up by a decoder that does not say so.
var noise = map[string]bool{
	"sound.wav": true, "sound.w64": true, "sound.aiff": true, "sound.au": true, "sound.caf": true, "still.tiff": true, "still.bmp": true,
	"film.wmv": true, "film.mxf": true, "still.webp": true, "still.jpg": true, "prores.mov": true, "raw.h264": true,
}

func soundOrFilm(tb testing.TB, file string) string {
	tb.Helper()
	m, err := lookOnce(file)
	if err != nil {
		tb.Fatal(err)
	}
	if len(m.of("video")) == 0 {
		return `{"video_codec":"none"}`
	}
	return `{"width":64,"quality":10}`
}

func lastsOfFile(tb testing.TB, file string) spoilt {
	tb.Helper()
	m, err := lookOnce(file)
	if err != nil || m.cut != "" {
		tb.Fatalf("a whole file is taken for cut: %v %q", err, m.cut)
	}
	return lastsOf(m)
}

func soiledAt(data []byte, at int, random *rand.Rand) []byte {
	soiled := bytes.Clone(data)
	for i := at; i < min(len(data), at+len(data)/20); i++ {
		soiled[i] = byte(random.IntN(256))
	}
	return soiled
}

func judge(tb testing.TB, what string, allowed bool, params string, data []byte, whole spoilt) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "spoilt")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
	got := attempt(tb, "ffmpeg.transcode", params, path)
	for i, kind := range []string{"picture", "sound"} {
		if missing := whole.lasts[i] - got.lasts[i]; got.refused == "" && !allowed && missing > 0.26 {
			tb.Errorf("%s: %.2f s of the %s are missing, and the result is called good", what, missing, kind)
		}
	}
}

// A Matroska file without lengths of its streams, cut between two clusters, is
// shorter than it says of itself.
func TestCut_BetweenElements(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(mediatest.More(t), "whole", "no_tags.mkv"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.mkv")
	cluster := len(data)/3 + bytes.Index(data[len(data)/3:], []byte{0x1f, 0x43, 0xb6, 0x75})
	if err := os.WriteFile(path, data[:cluster], 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := look(path); err != nil || !strings.Contains(m.cut, "says that it lasts") {
		t.Errorf("%v: %q", err, m.cut)
	}
}

// With damaged_input accept, a cut file gives what is there, and says so.
func TestCut_Accepted(t *testing.T) {
	for _, name := range []string{"film.flv", "faststart.mp4", "anim.gif", "film.ts"} {
		path := half(t, filepath.Join(mediatest.More(t), "whole", name))
		r := run(t, `{"width":64,"quality":10,"damaged_input":"accept"}`, path)
		if err := service(t).CheckOutput(r.plan, r.seen); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(r.damage)+len(r.plan.Warnings) == 0 {
			t.Errorf("%s: nothing is said of the damage", name)
		}
	}
}
