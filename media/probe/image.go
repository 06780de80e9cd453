package probe

import "encoding/binary"

var le = binary.LittleEndian

// maxPixels is the largest picture that is accepted: 100 megapixels.
const maxPixels = 100_000_000

func picture(container, codec string, width, height, depth int) (*Media, error) {
	if width <= 0 || height <= 0 {
		return nil, errf("the picture has no size")
	}
	if int64(width)*int64(height) > maxPixels {
		return nil, errf("the picture is %d×%d: more than 100 megapixels", width, height)
	}
	s := Stream{Kind: "video", Codec: codec, Width: width, Height: height, BitDepth: depth, Frames: 1}
	return &Media{Container: container, Brands: []string{}, Streams: []Stream{s}}, nil
}

// readPNG reads the header chunk, which comes first.
func readPNG(f file) (*Media, error) {
	if f.size < 33 {
		return nil, errf("the file ends early: it stops inside its PNG header")
	}
	b, err := f.bytes(8, 25)
	if err != nil {
		return nil, err
	}
	if string(b[4:8]) != "IHDR" || be.Uint32(b) != 13 {
		return nil, errf("the file is damaged: it has no PNG header")
	}
	width, height := be.Uint32(b[8:]), be.Uint32(b[12:])
	if width > 1<<31-1 || height > 1<<31-1 {
		return nil, errf("the file is damaged: its PNG header makes no sense")
	}
	return picture("png", "png", int(width), int(height), int(b[16]))
}

// readJPEG walks the markers up to the frame header. Segments are at most
// 64 KiB each; a file with more than a few hundred before it is no picture.
func readJPEG(f file) (*Media, error) {
	off := int64(2)
	for range 1000 {
		if off > f.size-4 {
			return nil, errf("the file ends early: it stops inside its JPEG header")
		}
		b, err := f.bytes(off, min(10, f.size-off))
		if err != nil {
			return nil, err
		}
		switch {
		case b[0] != 0xff:
			return nil, errf("the file is damaged: its JPEG markers make no sense")
		case b[1] == 0xff: // fill byte
			off++
		case b[1] >= 0xd0 && b[1] <= 0xd8 || b[1] == 0x01: // no payload
			off += 2
		case isFrameHeader(b[1]):
			if len(b) < 9 {
				return nil, errf("the file ends early: it stops inside its JPEG header")
			}
			return picture("jpg", "mjpeg", int(be.Uint16(b[7:])), int(be.Uint16(b[5:])), int(b[4]))
		default:
			off += 2 + int64(be.Uint16(b[2:]))
		}
	}
	return nil, errf("the file is damaged: it has no JPEG frame header")
}

// isFrameHeader is SOF0 to SOF15 but for DHT, JPG and DAC between them.
func isFrameHeader(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}
