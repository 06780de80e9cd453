package whole

import "encoding/binary"

// flv walks the tags, each of which is followed by its own length.
func flv(f *file) error {
	head, err := f.bytes(0, 9)
	if err != nil {
		return err
	}
	for at := int64(binary.BigEndian.Uint32(head[5:])) + 4; at < f.size; {
		tag, err := f.bytes(at, 11)
		if err != nil {
			return err
		}
		length := int64(binary.BigEndian.Uint32(tag) & 0xffffff)
		if kind := tag[0] & 0x1f; kind != 8 && kind != 9 && kind != 18 {
			return spoilt(at)
		}
		if _, err := f.bytes(at+11+length, 4); err != nil {
			return err
		}
		at += 11 + length + 4
	}
	return nil
}
