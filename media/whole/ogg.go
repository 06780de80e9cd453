package whole

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// ogg walks the pages; each stream's last one bears a flag that says so.
func ogg(f *file) error {
	open := map[uint32]bool{}
	for at := int64(0); at < f.size; {
		head, err := f.bytes(at, 27)
		if err != nil {
			return err
		}
		if !bytes.Equal(head[:4], []byte("OggS")) {
			return spoilt(at)
		}
		lacing, err := f.bytes(at+27, int64(head[26]))
		if err != nil {
			return err
		}
		at += 27 + int64(len(lacing))
		for _, n := range lacing {
			at += int64(n)
		}
		if at > f.size {
			return errors.New("its last page is cut short")
		}
		serial := binary.LittleEndian.Uint32(head[14:])
		if head[5]&4 != 0 {
			delete(open, serial)
		} else {
			open[serial] = true
		}
	}
	if len(open) > 0 {
		return errors.New("its last page is missing")
	}
	return nil
}
