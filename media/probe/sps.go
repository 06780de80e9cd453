package probe

import "bytes"

// unescaped drops the bytes that keep start codes out of a parameter set.
func unescaped(nal []byte) []byte { return bytes.ReplaceAll(nal, []byte{0, 0, 3}, []byte{0, 0}) }

// avcParameters reads an H.264 sequence parameter set: chroma, depth and size.
func avcParameters(s *Stream, sps []byte) {
	b := &bits{data: unescaped(sps[4:])}
	b.golomb()
	idc, depth := uint32(1), uint32(8)
	if hasChroma(sps[1]) {
		if idc = b.golomb(); idc == 3 {
			b.bit()
		}
		depth = 8 + b.golomb()
		b.golomb()
		b.bit()
		if b.bit() == 1 {
			scalingLists(b, idc)
		}
	}
	b.golomb()
	pictureOrder(b)
	b.golomb()
	b.bit()
	width, height := int64(b.golomb())+1, int64(b.golomb())+1
	frames := int64(b.bit())
	if frames == 0 {
		b.bit()
	}
	b.bit()
	var crop [4]int64
	if b.bit() == 1 {
		crop = b.four()
	}
	if b.short || idc > 3 || depth > 14 {
		s.flaw = "its H.264 parameter set makes no sense"
		return
	}
	s.Chroma, s.BitDepth = chroma(byte(idc)), int(depth)
	x, y := cropUnits(idc)
	s.coded = [2]int64{16*width - x*(crop[0]+crop[1]), (2 - frames) * (16*height - y*(crop[2]+crop[3]))}
}

// cropUnits is how many pixels one step of cropping takes, across and down.
func cropUnits(idc uint32) (x, y int64) {
	switch idc {
	case 1:
		return 2, 2
	case 2:
		return 2, 1
	}
	return 1, 1
}

func (b *bits) four() (v [4]int64) {
	for i := range v {
		v[i] = int64(b.golomb())
	}
	return v
}

func scalingLists(b *bits, idc uint32) {
	lists := 8
	if idc == 3 {
		lists = 12
	}
	for i := range lists {
		if b.bit() == 0 {
			continue
		}
		size := 16
		if i >= 6 {
			size = 64
		}
		for last, next, j := 8, 8, 0; j < size && next != 0 && !b.short; j++ {
			next = (last + b.signed() + 256) & 255
			last = next
		}
	}
}

func pictureOrder(b *bits) {
	switch b.golomb() {
	case 0:
		b.golomb()
	case 1:
		b.bit()
		b.golomb()
		b.golomb()
		for range min(b.golomb(), 255) {
			b.golomb()
		}
	}
}

// hevcParameters reads the size from an HEVC sequence parameter set.
func hevcParameters(s *Stream, sps []byte) {
	b := &bits{data: unescaped(sps[2:])}
	b.read(4)
	layers := int(b.read(3))
	b.read(1)
	b.skip(96)
	var present [8][2]uint32
	for i := range layers {
		present[i] = [2]uint32{b.bit(), b.bit()}
	}
	if layers > 0 {
		b.skip(2 * (8 - layers))
	}
	for i := range layers {
		b.skip(88*int(present[i][0]) + 8*int(present[i][1]))
	}
	b.golomb()
	idc := b.golomb()
	if idc == 3 {
		b.bit()
	}
	width, height := int64(b.golomb()), int64(b.golomb())
	var crop [4]int64
	if b.bit() == 1 {
		crop = b.four()
	}
	if b.short || idc > 3 || chroma(byte(idc)) != s.Chroma {
		s.flaw = "its HEVC parameter set makes no sense"
		return
	}
	x, y := cropUnits(idc)
	s.coded = [2]int64{width - x*(crop[0]+crop[1]), height - y*(crop[2]+crop[3])}
}

func (b *bits) skip(n int) {
	if b.at += n; b.at > 8*len(b.data) {
		b.short = true
	}
}
