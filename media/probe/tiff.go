package probe

import "encoding/binary"

// tiffHead reads the first directory, which lies anywhere in the file.
func tiffHead(f file, head []byte) (Picture, error) {
	order := binary.ByteOrder(le)
	if head[0] == 'M' {
		order = be
	}
	if len(head) < 8 {
		return Picture{}, errCut
	}
	at := int64(order.Uint32(head[4:]))
	if at > f.size-2 {
		return Picture{}, errCut
	}
	b, err := f.bytes(at, 2)
	if err != nil {
		return Picture{}, err
	}
	n := int64(order.Uint16(b))
	if at+2+12*n > f.size {
		return Picture{}, errCut
	}
	if b, err = f.bytes(at+2, 12*n); err != nil {
		return Picture{}, err
	}
	p := Picture{Codec: "tiff"}
	for ; len(b) >= 12; b = b[12:] {
		value := int64(order.Uint32(b[8:]))
		if order.Uint16(b[2:]) == 3 { // a short stands first
			value = int64(order.Uint16(b[8:]))
		}
		switch order.Uint16(b) {
		case 256:
			p.Width = int(value)
		case 257:
			p.Height = int(value)
		case 338: // samples beside the colours
			p.Alpha = true
		}
	}
	return p.sized()
}
