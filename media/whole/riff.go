package whole

import (
	"encoding/binary"
	"io"
)

// avi walks the chunks of every RIFF list; ffmpeg looks for the next one that
// it knows and says nothing of what it skips.
func avi(f *file) error {
	for at := int64(0); at < f.size; {
		head, err := f.bytes(at, 12)
		if err != nil || string(head[:4]) != "RIFF" {
			return trailing(at, err)
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if err := chunks(f, at+12, at+8+length, 0); err != nil {
			return err
		}
		at += 8 + length + length%2
	}
	return nil
}

// trailing forgives what lies behind the first list.
func trailing(at int64, err error) error {
	if at > 0 {
		return nil
	}
	return err
}

func chunks(f *file, at, end int64, depth int) error {
	if end > f.size {
		return io.EOF
	}
	for at+8 <= end {
		head, err := f.bytes(at, 8)
		if err != nil {
			return err
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if !fourCC(head[:4]) || at+8+length > end {
			return spoilt(at)
		}
		if name := string(head[:4]); name == "LIST" && depth < 4 {
			if err := chunks(f, at+12, at+8+length, depth+1); err != nil {
				return err
			}
		}
		at += 8 + length + length%2
	}
	return nil
}

func fourCC(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
