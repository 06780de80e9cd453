package probe

import "encoding/binary"

var le = binary.LittleEndian

const (
	// maxPixels is the largest picture that is accepted: 100 megapixels.
	maxPixels = 100_000_000
	// maxDecoded is the largest that is also decoded: 12 megapixels.
	maxDecoded = 12_000_000
	// maxPicture bounds the walk: 100 megapixels need less, however they are coded.
	maxPicture = 4 << 30
)

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

// ends notes what lies behind the end of the picture. Cameras append films and
// second pictures there, which every viewer ignores; a result has nothing there.
func (m *Media) ends(at, size int64) {
	if at < size {
		m.Oddity = "bytes follow behind the end of the picture"
	}
}
