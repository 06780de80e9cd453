// Package probe reads what a media file really is, in pure Go: ISO base media
// (mp4, mov, m4a) down to its sample tables, wav, jpg and png to their end. It
// trusts no size or count in the file and uses bounded memory.
//
// What it cannot see is damage to coded picture and sound inside mdat, which
// only a decoder finds: that is what digests and verify.decode are for.
package probe

import (
	"bytes"
	"fmt"
	"io"
)

// Media is what a file holds. What is absent is its zero value.
type Media struct {
	Container string   `json:"container"` // mp4, mov, m4a, wav, jpg, png
	Brands    []string `json:"brands"`
	DurationS float64  `json:"duration_s"`
	Faststart bool     `json:"faststart"` // moov before the first mdat
	Streams   []Stream `json:"streams"`
	// Oddity is one sentence on what no writer of ours leaves in a file, or
	// nothing. Players get along with most of it, so that it speaks against a
	// result, but not against an input.
	Oddity string `json:"oddity"`
}

// Stream is one track. Width and Height are as displayed: upright, with square
// pixels.
type Stream struct {
	Kind        string  `json:"kind"`  // video, audio, timecode, subtitle, data
	Codec       string  `json:"codec"` // h264, hevc, prores, aac …; unknown: the fourcc
	Tag         string  `json:"tag"`   // the fourcc of the sample entry
	Profile     string  `json:"profile"`
	Width       int     `json:"width"`
	Height      int     `json:"height"`
	Rotation    int     `json:"rotation"` // degrees clockwise that a player turns it
	BitDepth    int     `json:"bit_depth"`
	Chroma      string  `json:"chroma"` // 4:2:0, 4:2:2, 4:4:4, 4:0:0
	FPS         float64 `json:"fps"`
	Frames      int64   `json:"frames"`
	DurationS   float64 `json:"duration_s"`
	StartS      float64 `json:"start_s"`
	SampleRate  int     `json:"sample_rate"`
	Channels    int     `json:"channels"`
	Color       Color   `json:"color"`
	AttachedPic bool    `json:"attached_pic"` // pictures of chapters, no film
	Language    string  `json:"language"`

	coded [2]int64 // the size that the codec's own parameters tell, 0 where they do not
	flaw  string   // of the codec's configuration
}

// Color names the colours as ffprobe does: bt709, smpte2084, bt2020nc …
type Color struct {
	Primaries string `json:"primaries"`
	Transfer  string `json:"transfer"`
	Matrix    string `json:"matrix"`
}

// Error is one plain sentence on what is wrong with the file. Any other error
// of File is the reader's own: the file could not be read, which says nothing
// about what it holds.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

// ErrUnknown is a file of no kind that is read here.
var ErrUnknown = &Error{"the file is no mp4, mov, m4a, wav, jpg or png"}

// File reads the file's structure.
func File(r io.ReaderAt, size int64) (*Media, error) {
	if size <= 0 {
		return nil, &Error{"the file is empty (0 bytes)"}
	}
	f := file{r: r, size: size}
	head, err := f.bytes(0, min(size, 16))
	if err != nil {
		return nil, err
	}
	switch {
	case len(head) >= 12 && (string(head[:4]) == "RIFF" || string(head[:4]) == "RF64") && string(head[8:12]) == "WAVE":
		return readWAV(f)
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return readPNG(f)
	case bytes.HasPrefix(head, []byte{0xff, 0xd8, 0xff}):
		return readJPEG(f)
	case len(head) >= 8 && isTopLevel(string(head[4:8])):
		return readISO(f)
	}
	return nil, ErrUnknown
}

// unreadable is a fault of the reader, not of the file.
func unreadable(err error) error { return fmt.Errorf("reading the file: %w", err) }
