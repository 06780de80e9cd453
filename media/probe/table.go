package probe

import (
	"bufio"
	"io"
	"math"
)

// tableReader streams the rows of a table.
type tableReader struct {
	r   *bufio.Reader
	row [20]byte
}

func (f file) stream(off, end int64) *tableReader { return new(tableReader).over(f, off, end) }

// over begins anew at another place.
func (t *tableReader) over(f file, off, end int64) *tableReader {
	section := io.NewSectionReader(f.r, off, max(0, end-off))
	if t.r == nil {
		t.r = bufio.NewReaderSize(section, 16<<10)
	} else {
		t.r.Reset(section)
	}
	return t
}

// take reads the next n bytes (at most 20); they are good until the next call.
func (t *tableReader) take(n int) ([]byte, error) {
	if _, err := io.ReadFull(t.r, t.row[:n]); err != nil {
		return nil, unreadable(err)
	}
	return t.row[:n], nil
}

func (t *tableReader) u32() (uint32, error) {
	row, err := t.take(4)
	if err != nil {
		return 0, err
	}
	return be.Uint32(row), nil
}

// table opens a box of counted rows. The count must fit into the box.
func (m *movie) table(b box, headBytes, rowBytes int64) (*tableReader, int64, error) {
	if b.typ == "" {
		return nil, 0, errf("the file is damaged: a sample table is incomplete")
	}
	if b.size() < headBytes {
		return nil, 0, errf("the file is damaged: its %s table is too short", b.typ)
	}
	head, err := m.bytes(b.off, headBytes)
	if err != nil {
		return nil, 0, err
	}
	m.plain(b, head)
	rows := int64(be.Uint32(head[headBytes-4:]))
	if slack := b.size() - headBytes - rows*rowBytes; slack > 0 {
		m.odd("its %s table has more room than rows", b.typ)
	} else if slack < 0 {
		return nil, 0, errf("the file is damaged: its %s table claims more rows than it has", b.typ)
	}
	return m.stream(b.off+headBytes, b.end), rows, nil
}

// plain looks at a table's version and flags: ctts has two versions.
func (m *movie) plain(b box, head []byte) {
	if flags := be.Uint32(head); flags != 0 && (b.typ != "ctts" || flags != 1<<24) {
		m.odd("its %s table is of an unknown version", b.typ)
	}
}

// pairs streams a table of (count, value) rows, as stts and ctts are.
type pairs struct {
	rows  *tableReader
	left  int64
	n     int64 // what is left of the row
	value uint32
}

func (m *movie) pairs(b box) (*pairs, error) {
	rows, count, err := m.table(b, 8, 8)
	return &pairs{rows: rows, left: count}, err
}

// fill reads on to a row that counts something; n is 0 at the end.
func (p *pairs) fill() error {
	for p.n == 0 && p.left > 0 {
		row, err := p.rows.take(8)
		if err != nil {
			return err
		}
		p.left--
		p.n, p.value = int64(be.Uint32(row)), be.Uint32(row[4:])
	}
	return nil
}

// product stops at the largest number rather than wrap: that lies in no file.
func product(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}
