package probe

import (
	"bytes"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"
)

// pngFile is a PNG as it is being read.
type pngFile struct {
	file
	media                     *Media
	width, height             int
	depth, colour, interlaced byte
	palette                   bool
	firstData, end            int64 // where the first IDAT, and the end, lie
}

// readPNG walks all chunks to IEND: each must be whole and have its CRC. The
// pixels of a picture of up to 12 megapixels are inflated too.
func readPNG(f file) (*Media, error) {
	p := &pngFile{file: f}
	if err := p.header(); err != nil {
		return nil, err
	}
	if err := p.walk(); err != nil {
		return nil, err
	}
	p.media.ends(p.end, f.size)
	if p.width*p.height <= maxDecoded {
		return p.media, p.inflate()
	}
	return p.media, nil
}

// channels is how many samples a pixel has, by colour type.
var channels = map[byte]int{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}

func (p *pngFile) header() (err error) {
	if p.size < 33 {
		return errf("the file ends early: it stops inside its PNG header")
	}
	b, err := p.bytes(8, 25)
	if err != nil {
		return err
	}
	if string(b[4:8]) != "IHDR" || be.Uint32(b) != 13 {
		return errf("the file is damaged: it has no PNG header")
	}
	width, height := be.Uint32(b[8:]), be.Uint32(b[12:])
	p.depth, p.colour, p.interlaced = b[16], b[17], b[20]
	if width > 1<<31-1 || height > 1<<31-1 || channels[p.colour] == 0 || bytes.IndexByte([]byte{1, 2, 4, 8, 16}, p.depth) < 0 || b[18] != 0 || b[19] != 0 || p.interlaced > 1 {
		return errf("the file is damaged: its PNG header makes no sense")
	}
	p.width, p.height = int(width), int(height)
	p.media, err = picture("png", "png", p.width, p.height, int(p.depth))
	return err
}

func (p *pngFile) walk() error {
	for off, seen := int64(8), 0; ; seen++ {
		typ, size, err := p.chunk(off)
		if err != nil {
			return err
		}
		if seen > maxBoxes || off > maxPicture {
			return errf("the file is damaged: a PNG does not need so many chunks, or so long ones")
		}
		if err := p.check(off, size); err != nil {
			return err
		}
		switch typ {
		case "PLTE":
			p.palette = true
		case "acTL": // frames that follow one another: no still picture
			p.media.Streams[0].Codec = "apng"
		case "IDAT":
			if p.firstData == 0 {
				p.firstData = off
			}
		case "IEND":
			p.end = off + 12 + size
			return p.whole()
		}
		off += 12 + size
	}
}

func (p *pngFile) whole() error {
	switch {
	case p.firstData == 0:
		return errf("the file is damaged: it has no pixels (IDAT)")
	case p.colour == 3 && !p.palette:
		return errf("the file is damaged: it has no palette (PLTE)")
	}
	return nil
}

// chunk reads the head of the chunk at off, all of which must be in the file.
func (p *pngFile) chunk(off int64) (typ string, size int64, err error) {
	if off > p.size-12 {
		return "", 0, errf("the file ends early: it stops before the end of its picture")
	}
	head, err := p.bytes(off, 8)
	if err != nil {
		return "", 0, err
	}
	typ, size = string(head[4:]), int64(be.Uint32(head))
	if size > p.size-off-12 {
		return "", 0, errf("the file ends early: its %s chunk needs %d bytes more", printable(typ), size-(p.size-off-12))
	}
	return typ, size, nil
}

// check compares a chunk with its CRC, which stands behind it.
func (p *pngFile) check(off, size int64) error {
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, io.NewSectionReader(p.r, off+4, 4+size), 4+size); err != nil {
		return unreadable(err)
	}
	stored, err := p.bytes(off+8+size, 4)
	if err == nil && be.Uint32(stored) != sum.Sum32() {
		err = errf("the file is damaged: a chunk does not have its CRC")
	}
	return err
}

// inflate counts the pixels' bytes, without holding them, and looks at each
// row's filter.
func (p *pngFile) inflate() error {
	data := &pngData{p: p, next: p.firstData}
	bad := func(err error) error {
		if data.err != nil {
			return data.err
		}
		return errf("the file is damaged: its pixels cannot be decoded (%s)", err)
	}
	z, err := zlib.NewReader(data)
	if err != nil {
		return bad(err)
	}
	buffer := make([]byte, 32<<10)
	for _, pass := range p.passes() {
		if err := pass.read(z, buffer); err != nil {
			return bad(err)
		}
	}
	if n, err := z.Read(buffer[:1]); n > 0 || !errors.Is(err, io.EOF) {
		return bad(errors.New("there are more than the picture has"))
	}
	return nil
}

// pngPass is a part of the picture whose rows have the same length.
type pngPass struct {
	rows  int
	bytes int64
}

// read looks at the rows' filters, which stand before each row.
func (p pngPass) read(z io.Reader, buffer []byte) error {
	row := p.bytes + 1
	for at, end := int64(0), row*int64(p.rows); at < end; {
		n, err := z.Read(buffer[:min(int64(len(buffer)), end-at)])
		for i := (row - at%row) % row; i < int64(n); i += row {
			if buffer[i] > 4 {
				return errors.New("a row has no filter that there is")
			}
		}
		at += int64(n)
		if err != nil && (at < end || !errors.Is(err, io.EOF)) {
			return err
		}
	}
	return nil
}

// passes are seven where the picture is interlaced; those without pixels are none.
func (p *pngFile) passes() (list []pngPass) {
	grids := [][4]int{{0, 0, 1, 1}} // first column and row, and the steps
	if p.interlaced == 1 {
		grids = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	bits := int64(p.depth) * int64(channels[p.colour])
	for _, g := range grids {
		columns, rows := (p.width-g[0]+g[2]-1)/g[2], (p.height-g[1]+g[3]-1)/g[3]
		if columns > 0 && rows > 0 {
			list = append(list, pngPass{rows, (int64(columns)*bits + 7) / 8})
		}
	}
	return list
}

// pngData is what the IDAT chunks hold, which follow one another.
type pngData struct {
	p    *pngFile
	in   *io.SectionReader
	next int64
	err  error // of the file, not of what it holds
}

func (d *pngData) Read(b []byte) (int, error) {
	for {
		if d.in != nil {
			n, err := d.in.Read(b)
			if n > 0 {
				return n, nil
			}
			if !errors.Is(err, io.EOF) {
				d.err = unreadable(err)
				return 0, d.err
			}
		}
		typ, size, err := d.p.chunk(d.next)
		if err != nil {
			d.err = err
			return 0, err
		}
		if typ != "IDAT" {
			return 0, io.EOF
		}
		d.in = io.NewSectionReader(d.p.r, d.next+8, size)
		d.next += 12 + size
	}
}
