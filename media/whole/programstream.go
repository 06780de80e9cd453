package whole

import (
	"bytes"
	"encoding/binary"
)

// programStream walks the last packets of an MPEG-1 or -2 program stream. One
// that ends between packets need not have an end code: parts of a DVD have none.
func programStream(f *file) error {
	const reach = 1 << 17
	from := max(0, f.size-reach)
	tail, err := f.bytes(from, f.size-from)
	if err != nil {
		return err
	}
	pack := []byte{0, 0, 1, 0xba}
	at := bytes.LastIndex(tail, pack)
	for earlier := at; earlier >= 0 && len(tail)-at < 4096; { // a pack header in picture data is unlikely, two are more so
		if earlier = bytes.LastIndex(tail[:earlier], pack); earlier >= 0 {
			at = earlier
		}
	}
	if at < 0 {
		return nil
	}
	return packets(tail, at, from)
}

func packets(tail []byte, at int, from int64) error {
	f := &file{bytes.NewReader(tail), int64(len(tail))}
	for at < len(tail) {
		head, err := f.bytes(int64(at), 6)
		if err != nil && bytes.HasPrefix(tail[at:], []byte{0, 0, 1, 0xb9}) {
			return nil
		}
		switch {
		case err != nil:
			return err
		case head[0] != 0 || head[1] != 0 || head[2] != 1 || head[3] < 0xb9:
			if len(bytes.Trim(tail[at:], "\x00")) == 0 {
				return nil // padding
			}
			return spoilt(from + int64(at))
		case head[3] == 0xb9:
			at += 4
		case head[3] == 0xba && head[4]>>6 == 1:
			long, err := f.bytes(int64(at), 14)
			if err != nil {
				return err
			}
			at += 14 + int(long[13]&7)
		case head[3] == 0xba:
			at += 12
		default:
			at += 6 + int(binary.BigEndian.Uint16(head[4:]))
		}
	}
	if at > len(tail) {
		return errCut
	}
	return nil
}
