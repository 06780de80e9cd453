package probe

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
)

// b builds a box of its parts.
func b(typ string, parts ...any) []byte {
	var body []byte
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			body = append(body, p...)
		case string:
			body = append(body, p...)
		case int:
			body = be.AppendUint32(body, uint32(p))
		}
	}
	return append(append(be.AppendUint32(nil, uint32(8+len(body))), typ...), body...)
}

func zeros(n int) []byte { return make([]byte, n) }

// parts is a film of one track; each test bends one of them.
type parts struct {
	mdhd, stsd, stts, ctts, stsz, stsc, stco, elst, mdat, tail []byte
}

// plain is ten samples of four bytes, a second each, in two chunks.
func plain() parts {
	mdat := b("mdat", zeros(40))
	return parts{
		mdhd: b("mdhd", 0, 0, 0, 1000, 10000, 0),
		stsd: b("stsd", 0, 1, b("mp4v", zeros(24), "\x00\x40\x00\x20", zeros(50))),
		stts: b("stts", 0, 1, 10, 1000),
		stsz: b("stsz", 0, 4, 10),
		stsc: b("stsc", 0, 1, 1, 5, 1),
		stco: b("stco", 0, 2, 24, 44),
		mdat: mdat,
	}
}

func (p parts) file() []byte {
	edts := []byte{}
	if p.elst != nil {
		edts = b("edts", p.elst)
	}
	matrix := b("", 0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000)[4:]
	trak := b("trak", b("tkhd", 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, matrix, 0, 0), edts,
		b("mdia", p.mdhd, b("hdlr", 0, 0, "vide", zeros(12)),
			b("minf", b("stbl", p.stsd, p.stts, p.ctts, p.stsz, p.stsc, p.stco))))
	file := append(b("ftyp", "isom", 0), p.mdat...)
	return append(append(file, b("moov", b("mvhd", 0, 0, 0, 1000, 10000), trak)...), p.tail...)
}

func TestBoxes_Plain(t *testing.T) {
	m := must(t, plain().file())
	if s := m.Streams[0]; s.Width != 64 || s.Height != 32 || s.Frames != 10 || s.DurationS != 10 || s.FPS != 1 || s.Codec != "mpeg4" {
		t.Errorf("%+v", s)
	}
}

// Without a pasp box the track's header tells how wide the picture is shown.
func TestBoxes_ShapeByTrackHeader(t *testing.T) {
	data := plain().file()
	at := bytes.Index(data, []byte("tkhd")) + 4 + 76
	be.PutUint32(data[at:], 80<<16)
	be.PutUint32(data[at+4:], 32<<16)
	if s := must(t, data).Streams[0]; s.Width != 80 || s.Height != 32 {
		t.Errorf("%d×%d", s.Width, s.Height)
	}
}

func TestBoxes_Bent(t *testing.T) {
	for _, c := range []struct {
		name string
		bend func(*parts)
		want string // the error; "" for a good file
		s    float64
	}{
		{"a chunk past the end", func(p *parts) { p.stco = b("stco", 0, 2, 24, 100000) }, "points past the end", 0},
		{"a chunk that runs over the end", func(p *parts) { p.stsz = b("stsz", 0, 4000, 10) }, "points past the end", 0},
		{"a chunk offset near 2^64", func(p *parts) { p.stco = b("co64", 0, 2, 0, 24, -1, -1) }, "points past the end", 0},
		{"64-bit offsets", func(p *parts) { p.stco = b("co64", 0, 2, 0, 24, 0, 44) }, "", 10},
		{"more times than sizes", func(p *parts) { p.stts = b("stts", 0, 1, 11, 1000) }, "times 11 samples and sizes 10", 0},
		{"more samples than chunks hold", func(p *parts) { p.stsc = b("stsc", 0, 1, 1, 4, 1) }, "2 of its samples lie in no chunk", 0},
		{"chunks that hold too much", func(p *parts) { p.stsc = b("stsc", 0, 1, 1, 6, 1) }, "more samples than", 0},
		{"chunk runs out of order", func(p *parts) { p.stsc = b("stsc", 0, 2, 2, 5, 1, 1, 5, 1) }, "out of order", 0},
		{"two chunk runs", func(p *parts) { p.stsc = b("stsc", 0, 2, 1, 3, 1, 2, 7, 1) }, "", 10},
		{"a row count without rows", func(p *parts) { p.stts = b("stts", 0, 0x7fffffff, 10, 1000) }, "more rows than it has", 0},
		{"a size count without rows", func(p *parts) { p.stsz = b("stsz", 0, 0, 0x7fffffff) }, "more rows than it has", 0},
		{"sizes without end", func(p *parts) {
			p.stts, p.stsz = b("stts", 0, 1, -1, 1), b("stsz", 0, -1, -1)
			p.stsc, p.stco = b("stsc", 0, 1, 1, -1, 1), b("stco", 0, 1, 24)
		}, "points past the end", 0},
		{"no sample table", func(p *parts) { p.stts, p.stsz, p.stsc, p.stco = nil, nil, nil, nil }, "no sample table", 0},
		{"no chunk table", func(p *parts) { p.stco = nil }, "incomplete", 0},
		{"no sizes", func(p *parts) { p.stsz = nil }, "stsz table is too short", 0},
		{"an empty time table", func(p *parts) { p.stts = b("stts", 0) }, "stts table is too short", 0},
		{"no description", func(p *parts) { p.stsd = b("stsd", 0, 0, 0, 0) }, "does not say what it holds", 0},
		{"a description cut off", func(p *parts) { p.stsd = b("stsd", 0, 1, b("mp4v", zeros(20))) }, "too short", 0},
		{"no timescale", func(p *parts) { p.mdhd = b("mdhd", 0, 0, 0, 0, 0, 0) }, "no timescale", 0},
		{"no track header fields", func(p *parts) { p.mdhd = b("tkhd", 0) }, "tkhd", 0},
		{"compact sizes of 4 bits", func(p *parts) { p.stsz = b("stz2", 0, 4, 10, "\x44\x44\x44\x44\x44") }, "", 10},
		{"compact sizes of 16 bits", func(p *parts) { p.stsz = b("stz2", 0, 16, 10, zeros(20)) }, "", 10},
		{"compact sizes of 5 bits", func(p *parts) { p.stsz = b("stz2", 0, 5, 10, zeros(20)) }, "rows of 5 bits", 0},
		{"compact sizes without rows", func(p *parts) { p.stsz = b("stz2", 0, 16, 10, zeros(19)) }, "more rows than it has", 0},
		{"an edit that trims", func(p *parts) { p.elst = b("elst", 0, 1, 3000, 2000, 0x10000) }, "", 3},
		{"an edit that claims too much", func(p *parts) { p.elst = b("elst", 0, 1, 99000, 2000, 0x10000) }, "", 8},
		{"an edit to the end", func(p *parts) { p.elst = b("elst", 0, 1, 0, 2000, 0x10000) }, "", 8},
		{"two edits", func(p *parts) { p.elst = b("elst", 0, 2, 2000, 0, 0x10000, 1000, 5000, 0x10000) }, "", 3},
		{"a part shown twice", func(p *parts) { p.elst = b("elst", 0, 2, 9000, 0, 0x10000, 9000, 0, 0x10000) }, "", 18},
		{"an edit count without rows", func(p *parts) { p.elst = b("elst", 0, -1, 3000, 2000, 0x10000) }, "", 3},
		{"reordered pictures end late", func(p *parts) { p.ctts = b("ctts", 0, 2, 9, 1000, 1, 4000) }, "", 13},
		{"composition shifts below zero", func(p *parts) { p.ctts = b("ctts", 0, 2, 1, 0, 9, -1000) }, "", 9},
		{"stray bytes at the end", func(p *parts) { p.tail = []byte("xyz") }, "stray bytes", 0},
		{"a box past the end", func(p *parts) { p.tail = b("free", zeros(4))[:10] }, "free box needs 2 bytes more", 0},
		{"a box smaller than its header", func(p *parts) { p.tail = []byte("\x00\x00\x00\x05free") }, "smaller than its own header", 0},
		{"a huge 64-bit box", func(p *parts) { p.tail = []byte("\x00\x00\x00\x01free\xff\xff\xff\xff\xff\xff\xff\xff") }, "ends early", 0},
		{"a box to the end", func(p *parts) { p.tail = []byte("\x00\x00\x00\x00free1234") }, "", 10},
		{"a second index", func(p *parts) { p.tail = b("moov") }, "two indexes", 0},
		{"a fragment of no track", func(p *parts) { p.tail = b("moof", b("traf", b("tfhd", 0, 9))) }, "belongs to no track", 0},
		{"a fragment past the end", func(p *parts) {
			p.tail = b("moof", b("traf", b("tfhd", 0x18, 1, 1000, 400), b("trun", 1, 5, 100)))
		}, "a fragment points past the end", 0},
		{"a fragment run without rows", func(p *parts) {
			p.tail = b("moof", b("traf", b("tfhd", 0, 1), b("trun", 0x100, 0x7fffffff, 100)))
		}, "more rows than it has", 0},
		{"a fragment of 2^32 samples", func(p *parts) {
			p.tail = b("moof", b("traf", b("tfhd", 0x18, 1, 1000, -1), b("trun", 0, -1)))
		}, "a fragment points past the end", 0},
		{"a fragment", func(p *parts) {
			p.tail = b("moof", b("traf", b("tfhd", 0, 1), b("trun", 0x300, 2, 1000, 1, 500, 1)))
		}, "", 11.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plain()
			c.bend(&p)
			m, err := of(p.file())
			var e *Error
			switch {
			case c.want != "" && (!errors.As(err, &e) || !strings.Contains(e.Message, c.want)):
				t.Errorf("%v, want %q", err, c.want)
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "" && m.Streams[0].DurationS != c.s:
				t.Errorf("%v s, want %v s", m.Streams[0].DurationS, c.s)
			}
		})
	}
}

// ffmpeg leaves eight spare bytes before mdat, for a size of 64 bits.
func TestBoxes_LargeSizeOfMdat(t *testing.T) {
	data := bytes.Clone(sample(t, "10_moov_at_end.mp4"))
	at := bytes.Index(data, []byte("free"))
	if string(data[at+8:at+12]) != "mdat" {
		t.Fatal("the sample is not laid out as it was")
	}
	size := be.Uint32(data[at+4:]) + 8
	copy(data[at-4:], "\x00\x00\x00\x01mdat")
	binary.BigEndian.PutUint64(data[at+4:], uint64(size))
	if m := must(t, data); m.DurationS != 3 {
		t.Errorf("%v s", m.DurationS)
	}
}

// vast is a file far larger than any memory: zeros but for its head and tail.
type vast struct {
	head, tail []byte
	size       int64
	reads      int64
}

func (v *vast) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	v.reads += int64(len(p))
	if off < int64(len(v.head)) {
		copy(p, v.head[off:])
	}
	if at := v.size - int64(len(v.tail)); off+int64(len(p)) > at {
		copy(p[max(0, at-off):], v.tail[max(0, off-at):])
	}
	return len(p), nil
}

// The media is never read, and a table of millions of rows is never held.
func TestBoxes_BoundedMemoryAndReads(t *testing.T) {
	const rows = 2_000_000
	p := plain()
	p.stts = b("stts", 0, 1, rows, 1)
	p.stsz = b("stsz", 0, 0, rows, bytes.Repeat([]byte{0, 0, 0, 1}, rows))
	p.stsc = b("stsc", 0, 1, 1, 1, 1)
	p.stco = b("stco", 0, rows, bytes.Repeat([]byte{0, 0, 0, 64}, rows))
	p.mdat = nil
	film := p.file()
	ftyp, moov := film[:16], film[16:]
	size := int64(1) << 40
	head := append(bytes.Clone(ftyp), "\x00\x00\x00\x01mdat"...)
	head = be.AppendUint64(head, uint64(size-int64(len(ftyp)+len(moov))))
	v := &vast{head: head, tail: moov, size: size}

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := File(v, size)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if m.Streams[0].Frames != rows {
		t.Errorf("%d frames", m.Streams[0].Frames)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
	if v.reads > 2*int64(len(moov)) {
		t.Errorf("%d bytes were read for an index of %d", v.reads, len(moov))
	}
}

type broken struct{ io.ReaderAt }

var errDisk = errors.New("the disk is on fire")

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

// A store that cannot be read says nothing about the file (F8): its error is
// passed on, and is no *Error.
func TestFile_ReadErrorsAreNotTheFilesFault(t *testing.T) {
	_, err := File(broken{}, 1000)
	var e *Error
	if !errors.Is(err, errDisk) || errors.As(err, &e) {
		t.Errorf("%v", err)
	}
	// Nor is a reader that ends before the size that was stated.
	data := plain().file()
	if _, err = File(bytes.NewReader(data), int64(len(data))+16); err == nil || errors.As(err, &e) {
		t.Errorf("a short reader: %v", err)
	}
}
