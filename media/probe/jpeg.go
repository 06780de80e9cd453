package probe

import (
	"bufio"
	"bytes"
	"errors"
	"image/jpeg"
	"io"
)

// jpegFile is a JPEG as it is being read.
type jpegFile struct {
	size        int64
	in          *bufio.Reader
	at          int64 // how far in has been read
	media       *Media
	frame       byte  // the marker of its header: 0xc0 baseline, 0xc2 progressive …
	samples     int64 // of all components
	components  int
	scans       int
	begun       bool   // the 0xff of the next marker has been read
	orientation uint16 // as Exif numbers it; 0 where it says nothing
}

// readJPEG walks the markers, through every scan, to the end of the image. One
// that the standard library can decode in bounded memory is decoded too.
func readJPEG(f file) (*Media, error) {
	j := &jpegFile{size: f.size}
	j.in = bufio.NewReaderSize(io.NewSectionReader(f.r, 0, f.size), 64<<10)
	j.skip(2)
	if err := j.walk(); err != nil {
		return nil, err
	}
	j.media.ends(j.at, f.size)
	j.media.Streams[0].turn(j.orientation)
	return j.media, j.decode(f)
}

// walk ends behind the marker of the end.
func (j *jpegFile) walk() error {
	for j.at < maxPicture {
		marker, err := j.marker()
		if err != nil {
			return err
		}
		switch {
		case marker == 0xd9:
			if j.scans == 0 {
				return errf("the file is damaged: it has no pixels")
			}
			return nil
		case marker >= 0xd0 && marker <= 0xd7 || marker == 0x01: // no payload
		case marker == 0xd8:
			return errf("the file is damaged: a second picture begins inside it")
		default:
			if err := j.segment(marker); err != nil {
				return err
			}
		}
	}
	return errf("the file is damaged: no picture needs so many bytes")
}

// marker skips what fills: 0xff may be repeated.
func (j *jpegFile) marker() (byte, error) {
	b, err := byte(0xff), error(nil)
	if !j.begun {
		b, err = j.byte()
	}
	j.begun = false
	if err == nil && b != 0xff {
		err = errf("the file is damaged: its JPEG markers make no sense")
	}
	for err == nil && b == 0xff {
		b, err = j.byte()
	}
	if err == nil && b == 0 {
		err = errf("the file is damaged: its JPEG markers make no sense")
	}
	return b, err
}

// segment reads what it must know of, and skips the rest.
func (j *jpegFile) segment(marker byte) error {
	head, err := j.take(2)
	if err != nil {
		return err
	}
	length := int64(be.Uint16(head)) - 2
	if length < 0 {
		return errf("the file is damaged: its JPEG markers make no sense")
	}
	switch {
	case isFrameHeader(marker):
		return j.frameHeader(marker, length)
	case marker == 0xda:
		return j.scan(length)
	case marker == 0xe1 && j.orientation == 0:
		data, err := j.take(int(length))
		if err == nil {
			j.orientation = orientation(data)
		}
		return err
	}
	return j.skip(length)
}

func (j *jpegFile) frameHeader(marker byte, length int64) error {
	data, err := j.take(int(length))
	if err != nil {
		return err
	}
	if j.media != nil || len(data) < 6 || len(data) != 6+3*int(data[5]) {
		return errf("the file is damaged: its JPEG frame header makes no sense")
	}
	width, height := int(be.Uint16(data[3:])), int(be.Uint16(data[1:]))
	if j.media, err = picture("jpg", "mjpeg", width, height, int(data[0])); err != nil {
		return err
	}
	j.frame, j.components = marker, int(data[5])
	return j.countSamples(data[6:])
}

// countSamples is what a decoder must hold, by the components' sampling.
func (j *jpegFile) countSamples(components []byte) error {
	var most, sum int64
	for i := 0; i+3 <= len(components); i += 3 {
		n := int64(components[i+1]>>4) * int64(components[i+1]&15)
		most, sum = max(most, n), sum+n
	}
	if most == 0 {
		return errf("the file is damaged: its JPEG frame header makes no sense")
	}
	s := &j.media.Streams[0]
	j.samples = int64(s.Width) * int64(s.Height) * sum / most
	if y, c := components[1], byte(0); j.components == 3 {
		c = components[4]
		s.Chroma = map[[2]byte]string{{1, 1}: "4:4:4", {2, 1}: "4:2:2", {2, 2}: "4:2:0"}[[2]byte{(y >> 4) / max(1, c>>4), (y & 15) / max(1, c&15)}]
	}
	return nil
}

// maxScans bounds the work of decoding: each scan goes over the whole picture.
const maxScans = 200

// scan skips coded pixels, in which 0xff is followed by 0 or a restart marker.
func (j *jpegFile) scan(length int64) error {
	if j.media == nil {
		return errf("the file is damaged: it has no JPEG frame header")
	}
	if err := j.skip(length); err != nil {
		return err
	}
	if j.scans++; j.scans > maxScans {
		return errf("the file is damaged: no picture needs so many scans")
	}
	for j.at < maxPicture {
		skipped, err := j.in.ReadSlice(0xff)
		j.at += int64(len(skipped))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return j.early(err)
		}
		next, err := j.in.Peek(1)
		if err != nil {
			return j.early(err)
		}
		if next[0] != 0 && (next[0] < 0xd0 || next[0] > 0xd7) {
			j.begun = true
			return nil
		}
	}
	return nil
}

// isFrameHeader is SOF0 to SOF15 but for DHT, JPG and DAC between them.
func isFrameHeader(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

func (j *jpegFile) byte() (byte, error) {
	b, err := j.in.ReadByte()
	if err != nil {
		return 0, j.early(err)
	}
	j.at++
	return b, nil
}

// take reads n bytes, of at most 64 KiB.
func (j *jpegFile) take(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(j.in, b)
	j.at += int64(got)
	if err != nil {
		return nil, j.early(err)
	}
	return b, nil
}

func (j *jpegFile) skip(n int64) error {
	got, err := j.in.Discard(int(n))
	j.at += int64(got)
	if err != nil {
		return j.early(err)
	}
	return nil
}

// early tells a file that ends from one that cannot be read.
func (j *jpegFile) early(err error) error {
	if j.at < j.size || !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return unreadable(err)
	}
	return errf("the file ends early: it stops before the end of its picture")
}

// maxHeld is what decoding one picture may take.
const maxHeld = 48 << 20

// held is what the standard library needs: a byte a sample, four more where it
// is progressive, and for four inks the picture once more.
func (j *jpegFile) held() int64 {
	perSample := int64(1)
	if j.frame == 0xc2 {
		perSample += 4
	}
	if j.components == 4 {
		perSample++
	}
	return j.samples * perSample
}

func (j *jpegFile) decode(f file) error {
	s := j.media.Streams[0]
	if s.Width*s.Height > maxDecoded || j.held() > maxHeld {
		return nil
	}
	in := &watchedReader{in: io.NewSectionReader(f.r, 0, f.size)}
	_, err := jpeg.Decode(in)
	var unsupported jpeg.UnsupportedError
	switch {
	case in.err != nil:
		return unreadable(in.err)
	case err == nil || errors.As(err, &unsupported): // lossless, 12 bits and the like: not known there
		return nil
	}
	return errf("the file is damaged: its pixels cannot be decoded (%s)", err)
}

// watchedReader keeps what a decoder may hide: why the file could not be read.
type watchedReader struct {
	in  io.Reader
	err error
}

func (w *watchedReader) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

// orientation finds tag 0x0112 in the first directory of an Exif segment.
func orientation(data []byte) uint16 {
	tiff, found := bytes.CutPrefix(data, []byte("Exif\x00\x00"))
	if !found || len(tiff) < 8 {
		return 0
	}
	u16, u32 := be.Uint16, be.Uint32
	if tiff[0] == 'I' {
		u16, u32 = le.Uint16, le.Uint32
	}
	at := int64(u32(tiff[4:]))
	if at > int64(len(tiff))-2 {
		return 0
	}
	entries := tiff[at+2:]
	for range u16(tiff[at:]) {
		if len(entries) < 12 {
			return 0
		}
		if u16(entries) == 0x0112 {
			return u16(entries[8:])
		}
		entries = entries[12:]
	}
	return 0
}

// turn makes a picture's size what a viewer that knows of Exif shows.
func (s *Stream) turn(orientation uint16) {
	s.Rotation = map[uint16]int{3: 180, 4: 180, 5: 90, 6: 90, 7: 270, 8: 270}[orientation]
	if s.Rotation%180 != 0 {
		s.Width, s.Height = s.Height, s.Width
	}
}
