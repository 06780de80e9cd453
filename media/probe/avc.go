package probe

func avcConfig(s *Stream, data []byte) {
	f := fields{data: data}
	f.u8()
	profile, compat := f.u8(), f.u8()
	f.take(2)
	count := f.u8() & 31
	s.Profile = avcProfile(profile, compat)
	s.BitDepth, s.Chroma = 8, "4:2:0"
	if count > 0 && !f.short {
		if sps := f.take(min(int(f.u16()), len(f.data))); hasChroma(profile) && len(sps) > 4 {
			avcDepth(s, sps)
		}
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

// avcDepth reads seq_parameter_set_id, chroma_format_idc and the luma depth.
func avcDepth(s *Stream, sps []byte) {
	b := bits{data: sps[4:]}
	b.golomb()
	idc := b.golomb()
	if idc == 3 {
		b.bit()
	}
	depth := 8 + b.golomb()
	if !b.short && idc <= 3 && depth <= 14 {
		s.Chroma, s.BitDepth = chroma(byte(idc)), int(depth)
	}
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
