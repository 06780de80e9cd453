package probe

import (
	"bytes"
	"fmt"
	"io"
)

// Picture is what the first bytes of a still picture say of it.
type Picture struct {
	Codec         string // png, mjpeg, tiff
	Width, Height int
	Alpha         bool
}

// Head reads no more of a jpg, png or tif than its header: one of thousands of
// frames is read to its end by whoever decodes it. That there is an end is looked
// at, for a jpg that is cut short decodes without an error.
func Head(r io.ReaderAt, size int64) (Picture, error) {
	if size <= 0 {
		return Picture{}, &Error{"is empty (0 bytes)"}
	}
	f := file{r: r, size: size}
	head, err := f.bytes(0, min(size, 33))
	if err != nil {
		return Picture{}, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return pngHead(head)
	case bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}):
		return jpegHead(f)
	case bytes.HasPrefix(head, []byte("II*\x00")) || bytes.HasPrefix(head, []byte("MM\x00*")):
		return tiffHead(f, head)
	}
	return Picture{}, &Error{"is no jpg, png or tif"}
}

var errCut = &Error{"is cut short"}

func pngHead(b []byte) (Picture, error) {
	if len(b) < 33 || string(b[12:16]) != "IHDR" {
		return Picture{}, errCut
	}
	return Picture{"png", int(be.Uint32(b[16:])), int(be.Uint32(b[20:])), b[25]&4 != 0}.sized()
}

func (p Picture) sized() (Picture, error) {
	switch {
	case p.Width <= 0 || p.Height <= 0:
		return p, &Error{"is damaged: it has no size"}
	case int64(p.Width)*int64(p.Height) > maxPixels:
		return p, &Error{"is larger than 100 megapixels"}
	}
	return p, nil
}

// Unlike says how the picture differs from another, or "".
func (p Picture) Unlike(other Picture) string {
	switch {
	case p.Codec != other.Codec:
		return "is of another format than"
	case p.Width != other.Width || p.Height != other.Height:
		return fmt.Sprintf("is %d×%d, not %d×%d like", p.Width, p.Height, other.Width, other.Height)
	case p.Alpha && !other.Alpha:
		return "is transparent, unlike"
	case !p.Alpha && other.Alpha:
		return "is not transparent, unlike"
	}
	return ""
}

func jpegHead(f file) (Picture, error) {
	tail, err := f.bytes(max(0, f.size-64<<10), min(f.size, 64<<10))
	if err != nil {
		return Picture{}, err
	}
	if !bytes.Contains(tail, []byte{0xff, 0xd9}) {
		return Picture{}, errCut
	}
	off := int64(2)
	for range 1000 { // segments before the frame's header: a picture has a few
		if off > f.size-9 {
			return Picture{}, errCut
		}
		b, err := f.bytes(off, 9)
		switch {
		case err != nil:
			return Picture{}, err
		case b[0] != 0xff:
			return Picture{}, &Error{"is damaged: its markers make no sense"}
		case b[1] == 0xff: // fill byte
			off++
		case b[1] >= 0xd0 && b[1] <= 0xd8 || b[1] == 0x01: // no payload
			off += 2
		case b[1] >= 0xc0 && b[1] <= 0xcf && b[1] != 0xc4 && b[1] != 0xc8 && b[1] != 0xcc:
			return Picture{"mjpeg", int(be.Uint16(b[7:])), int(be.Uint16(b[5:])), false}.sized()
		default:
			off += 2 + int64(be.Uint16(b[2:]))
		}
	}
	return Picture{}, &Error{"is damaged: it has no frame header"}
}
