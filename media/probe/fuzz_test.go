package probe

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// The corpora in testdata are small whole files; go test reads them as well.

func FuzzISO(f *testing.F)   { fuzz(f, "\x00\x00\x00\x10ftypisom") }
func FuzzWAV(f *testing.F)   { fuzz(f, "RIFF\x00\x00\x00\x00WAVE") }
func FuzzImage(f *testing.F) { fuzz(f, "\x89PNG\r\n\x1a\n") }

// fuzz bends one number of the file beside what the fuzzer does to its bytes:
// counts, sizes and offsets are what a reader trusts too easily.
func fuzz(f *testing.F, seed string) {
	f.Add([]byte(seed), uint32(0), uint32(0))
	f.Add(plain().file(), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, at, number uint32) {
		if at > 0 && int(at) <= len(data)-4 {
			be.PutUint32(data[at:], number)
		}
		m, err := File(strings.NewReader(string(data)), int64(len(data)))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Message == "" || strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("no plain sentence: %q", err)
			}
			return
		}
		if strings.ContainsFunc(m.Oddity, func(r rune) bool { return r < ' ' }) {
			t.Fatalf("no plain sentence: %q", m.Oddity)
		}
		sane(t, m.DurationS)
		for _, s := range m.Streams {
			sane(t, s.DurationS, s.StartS, s.FPS, float64(s.Width), float64(s.Height), float64(s.Frames), float64(s.SampleRate), float64(s.Channels), float64(s.BitDepth))
		}
	})
}

// sane numbers can be stored as JSON and compared.
func sane(t *testing.T, numbers ...float64) {
	t.Helper()
	for _, n := range numbers {
		if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
			t.Fatalf("no number to work with: %v in %v", n, numbers)
		}
	}
}
