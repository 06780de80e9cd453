package media

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

func TestScan(t *testing.T) {
	want := os.Getenv("SCAN")
	files, _ := filepath.Glob(filepath.Join(mediatest.More(t), "whole", "*"))
	for _, file := range files {
		if want != "" && !strings.Contains(file, want) {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, _ := os.ReadFile(file)
			params := `{"width":96,"quality":20}`
			m, err := look(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.of("video")) == 0 {
				params = `{"video_codec":"none"}`
			}
			whole := attempt(t, "ffmpeg.transcode", params, file)
			if whole.refused != "" {
				t.Fatal("whole: " + whole.refused)
			}
			n := 12
			for i := range n {
				at := (len(data)*i + rand.IntN(len(data))) / n
				cut := filepath.Join(t.TempDir(), "cut")
				os.WriteFile(cut, data[:at], 0o600)
				if got := attempt(t, "ffmpeg.transcode", params, cut); got.refused == "" {
					t.Logf("CUT at %d of %d: %v instead of %v", at, len(data), got, whole)
				}
				if i%3 == 1 {
					bad := bytes.Clone(data)
					for j := at; j < min(len(bad), at+len(bad)/20); j++ {
						bad[j] = byte(rand.IntN(256))
					}
					os.WriteFile(cut, bad, 0o600)
					if got := attempt(t, "ffmpeg.transcode", params, cut); got.refused == "" {
						t.Logf("GARBAGE at %d of %d: %v instead of %v", at, len(data), got, whole)
					} else if os.Getenv("V") != "" {
						t.Log(got.refused)
					}
				}
			}
		})
	}
}
