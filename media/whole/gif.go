package whole

import (
	"bufio"
	"compress/lzw"
	"errors"
	"io"
)

// gif walks the blocks up to the trailer, and unpacks each picture to see that
// it has all its pixels.
func gif(f *file) error {
	in := bufio.NewReader(io.NewSectionReader(f.r, 0, f.size))
	screen := make([]byte, 13)
	if _, err := io.ReadFull(in, screen); err != nil {
		return err
	}
	if err := skipColours(in, screen[10]); err != nil {
		return err
	}
	for {
		kind, err := in.ReadByte()
		switch {
		case err != nil:
			return err
		case kind == 0x3b:
			return nil
		case kind == 0x21:
			_, err = in.ReadByte()
			if err == nil {
				_, err = io.Copy(io.Discard, &blocks{in: in})
			}
		case kind == 0x2c:
			err = picture(in)
		default:
			return errors.New("its structure is broken")
		}
		if err != nil {
			return err
		}
	}
}

func skipColours(in *bufio.Reader, flags byte) error {
	if flags&0x80 == 0 {
		return nil
	}
	_, err := in.Discard(3 << (flags&7 + 1))
	return err
}

func picture(in *bufio.Reader) error {
	head := make([]byte, 9)
	if _, err := io.ReadFull(in, head); err != nil {
		return err
	}
	if err := skipColours(in, head[8]); err != nil {
		return err
	}
	width, err := in.ReadByte()
	if err != nil {
		return err
	}
	if width < 2 || width > 8 {
		return errors.New("a picture in it is broken")
	}
	pixels := (int64(head[4]) | int64(head[5])<<8) * (int64(head[6]) | int64(head[7])<<8)
	packed := &blocks{in: in}
	if _, err := io.CopyN(io.Discard, lzw.NewReader(packed, lzw.LSB, int(width)), pixels); err != nil {
		return errors.New("a picture in it is broken or breaks off")
	}
	_, err = io.Copy(io.Discard, packed)
	return err
}

// blocks reads a chain of sub-blocks as one, up to the empty one at its end.
type blocks struct {
	in   *bufio.Reader
	left int
	end  bool
}

func (b *blocks) Read(p []byte) (int, error) {
	for b.left == 0 && !b.end {
		n, err := b.in.ReadByte()
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		b.left, b.end = int(n), n == 0
	}
	if b.end {
		return 0, io.EOF
	}
	n, err := b.in.Read(p[:min(len(p), b.left)])
	b.left -= n
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ReadByte keeps the LZW reader from reading ahead.
func (b *blocks) ReadByte() (byte, error) {
	var one [1]byte
	_, err := io.ReadFull(b, one[:])
	return one[0], err
}
