package probe

import (
	"encoding/binary"
	"fmt"
	"io"
)

var be = binary.BigEndian

// maxBoxes bounds the work on a file made of nothing but headers; an hour in
// fragments of one frame has less than a million.
const maxBoxes = 1 << 22

// maxRead is the most that is ever held of one box; tables are streamed.
const maxRead = 1 << 20

func errf(format string, args ...any) error {
	return &Error{fmt.Sprintf(format, args...)}
}

type file struct {
	r    io.ReaderAt
	size int64
}

// bytes reads n bytes at off, which callers have checked to lie in the file.
func (f file) bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || n > maxRead || off > f.size-n {
		return nil, errf("the file ends early: it has %d bytes, and its structure points past them", f.size)
	}
	b := make([]byte, n)
	if got, err := f.r.ReadAt(b, off); int64(got) < n {
		return nil, unreadable(err)
	}
	return b, nil
}

// box is one box: it begins at start, its payload lies at [off, end) of the file.
type box struct {
	typ             string
	start, off, end int64
}

func (b box) size() int64 { return b.end - b.off }

// small reads a box that has no business being large.
func (f file) small(b box) ([]byte, error) {
	if b.size() > maxRead {
		return nil, errf("the %s box has %d bytes, far more than it can need", printable(b.typ), b.size())
	}
	return f.bytes(b.off, b.size())
}

// walker goes through the boxes of the whole file.
type walker struct {
	file
	seen  int // so far
	depth int // boxes that are open around

	window   []byte // of the file, at windowAt: headers often follow one another
	windowAt int64
}

// peek is the file's next n bytes, of a header; they are good until the next call.
func (w *walker) peek(off, n int64) ([]byte, error) {
	at := off - w.windowAt
	if at < 0 || at+n > int64(len(w.window)) {
		if w.window == nil {
			w.window = make([]byte, 4<<10)
		}
		w.window = w.window[:min(int64(cap(w.window)), w.size-off)]
		w.windowAt, at = off, 0
		if got, err := w.r.ReadAt(w.window, off); got < len(w.window) {
			w.window = w.window[:0]
			return nil, unreadable(err)
		}
	}
	return w.window[at : at+n], nil
}

// next reads the header of the box at off, which must end by limit.
func (w *walker) next(off, limit int64) (box, error) {
	if limit-off < 8 {
		return box{}, errf("the file is damaged: %d stray bytes lie where a box must begin", limit-off)
	}
	h, err := w.peek(off, min(16, limit-off))
	if err != nil {
		return box{}, err
	}
	b := box{typ: string(h[4:8]), start: off, off: off + 8}
	size := uint64(be.Uint32(h))
	switch {
	case size == 1 && len(h) == 16:
		b.off += 8
		size = be.Uint64(h[8:])
	case size == 0:
		size = uint64(limit - off)
	}
	if size < uint64(b.off-off) {
		return box{}, errf("the file is damaged: its %s box is smaller than its own header", printable(b.typ))
	}
	if size > uint64(limit-off) {
		if w.depth == 0 {
			return box{}, errf("the file ends early: its %s box needs %d bytes more", printable(b.typ), size-uint64(limit-off))
		}
		return box{}, errf("the file is damaged: its %s box is larger than the box around it", printable(b.typ))
	}
	b.end = off + int64(size)
	return b, nil
}

// each visits the boxes in [off, end). A tail too short for a header is let
// pass inside a box: QuickTime ends some lists with four zeros.
func (w *walker) each(off, end int64, visit func(box) error) error {
	for off < end {
		if end-off < 8 && w.depth > 0 {
			return nil
		}
		b, err := w.next(off, end)
		if err != nil {
			return err
		}
		if w.seen++; w.seen > maxBoxes {
			return errf("the file is damaged: it has more than %d boxes", maxBoxes)
		}
		if err := visit(b); err != nil {
			return err
		}
		off = b.end
	}
	return nil
}

func (w *walker) children(b box, visit func(box) error) error {
	w.depth++
	defer func() { w.depth-- }()
	return w.each(b.off, b.end, visit)
}

// printable keeps a fourcc readable in a message.
func printable(fourcc string) string {
	for _, c := range []byte(fourcc) {
		if c < 0x20 || c > 0x7e {
			return fmt.Sprintf("%x", fourcc)
		}
	}
	return fourcc
}
