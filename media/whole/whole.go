// Package whole walks containers to their end whose readers in ffmpeg pass over
// a cut in silence: they take what is there for all that there was.
package whole

import (
	"errors"
	"fmt"
	"io"
)

// walkers by ffmpeg's name of the demuxer. What is not here tells of a cut by
// itself, or holds nothing that tells: see docs/evidence/media.md.
var walkers = map[string]func(*file) error{
	"gif": gif, "ogg": ogg, "mp3": mp3, "flv": flv, "mpeg": programStream, "avi": avi, "aac": adts,
}

// Check is nil for a file that goes on to its end, else one clause on where it
// breaks off. It answers nil as well for a demuxer that it does not know.
func Check(r io.ReaderAt, size int64, demuxer string) error {
	walk, ok := walkers[demuxer]
	if !ok {
		return nil
	}
	err := walk(&file{r, size})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

var errCut = errors.New("it breaks off in the middle")

// file is read a few bytes at a time.
type file struct {
	r    io.ReaderAt
	size int64
}

// bytes are n bytes at a place; io.EOF where the file has fewer.
func (f *file) bytes(at, n int64) ([]byte, error) {
	if at < 0 || at+n > f.size {
		return nil, io.EOF
	}
	b := make([]byte, n)
	if _, err := f.r.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the input: %w", err)
	}
	return b, nil
}

func spoilt(at int64) error { return fmt.Errorf("its structure is broken at byte %d", at) }
