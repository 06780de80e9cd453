package probe

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// most is what reading any file may take.
const most = 64 << 20

// No file makes its reader take more than 64 MiB, all allocations of the whole
// reading added up: the files below claim much, or inflate to it.
func TestFile_NeverTakesMuchMemory(t *testing.T) {
	many := func(n int, piece []byte) []byte { return bytes.Repeat(piece, n) }
	tracks := plain()
	file := tracks.file()
	trak := file[bytes.Index(file, []byte("trak"))-4:]
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"boxes without end", many(1<<20, b("free"))},
		{"boxes within boxes", b("moov", many(1<<18, b("udta")))},
		{"tracks", append(b("mdat", zeros(40)), b("moov", b("mvhd", 0, 0, 0, 1000, 10000), many(maxTracks, trak))...)},
		{"more tracks", append(b("mdat", zeros(40)), b("moov", b("mvhd", 0, 0, 0, 1000, 10000), many(maxTracks+1, trak))...)},
		{"boxes in an edit list's place", b("moov", b("trak", many(1<<18, b("edts"))))},
		{"a huge brand list", b("ftyp", many(8<<20, []byte("isom")))},
		{"a huge description", append(b("ftyp", "isom", 0), b("moov", b("trak", b("mdia", b("hdlr", 0, 0, "vide"), b("stsd", 0, 1, b("avc1", zeros(8<<20))))))...)},
		{"a huge header", append(b("ftyp", "isom", 0), b("moov", b("mvhd", zeros(8<<20)))...)},
		{"fragments", append(plain().file(), many(1<<14, b("moof", b("traf", b("tfhd", 0, 1), b("trun", 0, -1))))...)},
		{"chunks of sound", waveOf(many(1<<15, riff("junk")), riff("fmt ", pcmFormat(2, 8000, 16)), riff("data", make([]byte, 32)))},
		{"a picture of 100 megapixels", pngOf(ihdr(10000, 10000, 16, 6, 1), chunk("IDAT", deflated(make([]byte, 8<<20))))},
		{"a picture that inflates", pngOf(ihdr(4000, 3000, 16, 6, 0), chunk("IDAT", deflated(make([]byte, 3000*32001))))},
		{"a picture that inflates to more", pngOf(ihdr(4, 3, 8, 0, 0), chunk("IDAT", deflated(make([]byte, 64<<20))))},
		{"pixels in many chunks", pngOf(ihdr(4, 3, 8, 0, 0), many(1<<14, chunk("IDAT", nil)))},
		{"a large JPEG", largeJPEG(t)},
		{"a large progressive JPEG", progressive(t, largeJPEG(t))},
		{"markers", append([]byte{0xff, 0xd8}, many(1<<18, []byte{0xff, 0xe1, 0, 8, 'E', 'x', 'i', 'f', 0, 0})...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			used, m, err := usedFor(t, path)
			t.Logf("%d KiB: %v", used>>10, err)
			if used > most {
				t.Errorf("reading took %d bytes (%v, %v)", used, m, err)
			}
		})
	}
}

// usedFor reads a file as the server does and counts what that allocates.
func usedFor(t *testing.T, path string) (uint64, *Media, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := File(f, info.Size())
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, m, err
}

// largeJPEG has 12 megapixels, without savings on colour.
func largeJPEG(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 4000, 3000)), nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// progressive is the same, coded in several scans, of which a decoder must hold
// all that it has.
func progressive(t *testing.T, data []byte) []byte {
	t.Helper()
	at := bytes.Index(data, []byte{0xff, 0xc0})
	out := bytes.Clone(data)
	out[at+1] = 0xc2
	return out
}
