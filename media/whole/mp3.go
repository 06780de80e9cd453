package whole

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

var errLastFrame = errors.New("its last frame is cut short")

// mp3 walks the frames. One that ends between two frames is whole to all that
// can be seen, unless its first frame (Xing, Info) says how many there are.
func mp3(f *file) error {
	at, err := behindID3(f)
	if err != nil {
		return err
	}
	promised, frames := int64(0), int64(0)
	for at < f.size && !tagged(f, at) {
		head, err := f.bytes(at, 4)
		if err != nil {
			return errLastFrame
		}
		length := frameLength(binary.BigEndian.Uint32(head))
		switch {
		case length == 0:
			return nil // what is no frame makes ffmpeg complain
		case at+length > f.size:
			return errLastFrame
		case frames == 0:
			promised = xing(f, at, length)
		}
		frames++
		at += length
	}
	if promised > 0 && frames-1 < promised-1 { // the first frame is no sound
		return fmt.Errorf("%d of its %d frames are there", frames-1, promised)
	}
	return nil
}

// behindID3 is where the sound begins.
func behindID3(f *file) (at int64, err error) {
	for {
		head, err := f.bytes(at, 10)
		if err != nil || string(head[:3]) != "ID3" {
			return at, err
		}
		at += 10 + int64(head[6]&0x7f)<<21 + int64(head[7]&0x7f)<<14 + int64(head[8]&0x7f)<<7 + int64(head[9]&0x7f)
		if head[5]&0x10 != 0 {
			at += 10
		}
	}
}

// tagged is true where nothing but tags follow: ID3v1, APE, Lyrics3, zeros.
func tagged(f *file, at int64) bool {
	n := min(8, f.size-at)
	b, err := f.bytes(at, n)
	if err != nil {
		return false
	}
	for _, tag := range []string{"TAG", "APETAGEX", "LYRICSBE", "ID3"} {
		if bytes.HasPrefix(b, []byte(tag)) || n < 8 && bytes.HasPrefix([]byte(tag), b) {
			return true
		}
	}
	return len(bytes.Trim(b, "\x00")) == 0
}

var rates = [2][16]int64{
	{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0},
	{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0},
}

// frameLength is that of a Layer III frame, 0 where the header is none.
func frameLength(h uint32) int64 {
	version, layer, rate, freq := h>>19&3, h>>17&3, h>>12&15, h>>10&3
	if h>>21 != 0x7ff || version == 1 || layer != 1 || freq == 3 {
		return 0
	}
	hz := []int64{44100, 48000, 32000}[freq]
	low, per := 0, int64(144)
	if version != 3 {
		low, per, hz = 1, 72, hz/2
	}
	if version == 0 {
		hz /= 2
	}
	bits := rates[low][rate] * 1000
	if bits == 0 {
		return 0
	}
	return per*bits/hz + int64(h>>9&1)
}

// xing is the count of frames that the first one states, or 0.
func xing(f *file, at, length int64) int64 {
	frame, err := f.bytes(at, length)
	if err != nil {
		return 0
	}
	mono, mpeg1 := frame[3]>>6 == 3, frame[1]>>3&3 == 3
	side := map[[2]bool]int{{true, true}: 17, {false, true}: 32, {true, false}: 9, {false, false}: 17}[[2]bool{mono, mpeg1}]
	tag := frame[min(len(frame), 4+side):]
	if len(tag) < 12 || string(tag[:4]) != "Xing" && string(tag[:4]) != "Info" || tag[7]&1 == 0 {
		return 0
	}
	return int64(binary.BigEndian.Uint32(tag[8:]))
}
