package probe

// avcConfig reads avcC: what it says of the stream stands in the parameter set
// behind it once more.
func avcConfig(s *Stream, data []byte) {
	f := fields{data: data}
	version, profile, compat, level := f.u8(), f.u8(), f.u8(), f.u8()
	lengths, count := f.u8(), f.u8()
	s.Profile = avcProfile(profile, compat)
	s.BitDepth, s.Chroma = 8, "4:2:0"
	sps := f.take(min(int(f.u16()), len(f.data)))
	switch {
	case f.short || version != 1 || lengths&3 == 2 || count&31 == 0 || len(sps) < 5:
		s.flaw = "its H.264 configuration (avcC) makes no sense"
	case sps[0]&31 != 7 || sps[1] != profile || sps[2] != compat || sps[3] != level:
		s.flaw = "its H.264 configuration (avcC) says other things than its parameter set"
	default:
		avcParameters(s, sps)
	}
}

func avcProfile(idc, compat byte) string {
	switch idc {
	case 66:
		if compat&0x40 != 0 {
			return "Constrained Baseline"
		}
		return "Baseline"
	case 77:
		return "Main"
	case 88:
		return "Extended"
	case 100:
		return "High"
	case 110:
		return "High 10"
	case 122:
		return "High 4:2:2"
	case 244:
		return "High 4:4:4 Predictive"
	}
	return ""
}

// hasChroma lists the profiles whose SPS names chroma and depth.
func hasChroma(profile byte) bool {
	switch profile {
	case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135:
		return true
	}
	return false
}

type bits struct {
	data  []byte
	at    int
	short bool
}

func (b *bits) bit() uint32 {
	if b.at/8 >= len(b.data) {
		b.short = true
		return 0
	}
	v := b.data[b.at/8] >> (7 - b.at%8) & 1
	b.at++
	return uint32(v)
}

func (b *bits) read(n int) (v uint32) {
	for range n {
		v = v<<1 | b.bit()
	}
	return v
}

// signed is a signed Exp-Golomb number.
func (b *bits) signed() int {
	n := int(b.golomb())
	if n%2 == 0 {
		return -n / 2
	}
	return (n + 1) / 2
}

// golomb is an unsigned Exp-Golomb number.
func (b *bits) golomb() uint32 {
	zeros := 0
	for b.bit() == 0 {
		if zeros++; zeros > 31 || b.short {
			b.short = true
			return 0
		}
	}
	return 1<<zeros - 1 + b.read(zeros)
}
