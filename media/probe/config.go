package probe

import "math"

// The readers below take what they can from a codec's own configuration; one
// that is cut short leaves zero values, which the verifier then refuses.

func chroma(idc byte) string {
	return []string{"4:0:0", "4:2:0", "4:2:2", "4:4:4"}[idc&3]
}

// hevcConfig reads hvcC, and the first of the parameter sets behind it that
// tells the size.
func hevcConfig(s *Stream, data []byte) {
	f := fields{data: data}
	version, profile := f.u8(), f.u8()&31
	f.take(14)
	format, luma := f.u8(), f.u8()
	f.take(3)
	lengths, arrays := f.u8(), f.u8()
	if f.short || version != 1 || lengths&3 == 2 {
		s.flaw = "its HEVC configuration (hvcC) makes no sense"
		return
	}
	s.Profile = map[byte]string{1: "Main", 2: "Main 10", 3: "Main Still Picture", 4: "Rext"}[profile]
	s.Chroma, s.BitDepth = chroma(format), int(luma&7)+8
	for range arrays {
		kind := f.u8() & 63
		for range f.u16() {
			unit := f.take(min(int(f.u16()), len(f.data)))
			if f.short {
				s.flaw = "its HEVC configuration (hvcC) ends early"
				return
			}
			if kind == 33 && s.coded[0] == 0 && len(unit) > 2 {
				hevcParameters(s, unit)
			}
		}
	}
}

func av1Config(s *Stream, data []byte) {
	f := fields{data: data}
	f.u8()
	profile, flags := f.u8()>>5, f.u8()
	if f.short {
		return
	}
	s.Profile = map[byte]string{0: "Main", 1: "High", 2: "Professional"}[profile]
	s.BitDepth = 8
	if flags&0x40 != 0 {
		s.BitDepth = 10
	}
	if flags&0x60 == 0x60 {
		s.BitDepth = 12
	}
	switch {
	case flags&0x10 != 0:
		s.Chroma = "4:0:0"
	case flags&0x0c == 0x0c:
		s.Chroma = "4:2:0"
	case flags&0x08 != 0:
		s.Chroma = "4:2:2"
	default:
		s.Chroma = "4:4:4"
	}
}

func vpConfig(s *Stream, data []byte) {
	f := fields{data: data}
	f.take(4)
	profile := f.u8()
	f.u8()
	depth := f.u8()
	if f.short {
		return
	}
	s.Profile = map[byte]string{0: "Profile 0", 1: "Profile 1", 2: "Profile 2", 3: "Profile 3"}[profile]
	s.BitDepth = int(depth >> 4)
	s.Chroma = []string{"4:2:0", "4:2:0", "4:2:2", "4:4:4"}[min(depth>>1&7, 3)]
}

func pixelAspect(s *Stream, data []byte) {
	f := fields{data: data}
	h, v := f.u32(), f.u32()
	if f.short || h == 0 || v == 0 {
		return
	}
	width := math.Round(float64(s.Width) * float64(h) / float64(v))
	if width >= 1 && width < 1<<20 {
		s.Width = int(width)
	}
}

// colour reads nclx (ISO) and nclc (QuickTime); an ICC profile says nothing here.
func colour(s *Stream, data []byte) {
	f := fields{data: data}
	kind := string(f.take(4))
	primaries, transfer, matrix := f.u16(), f.u16(), f.u16()
	if f.short || (kind != "nclx" && kind != "nclc") {
		return
	}
	s.Color = Color{
		Primaries: map[uint16]string{1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020", 11: "smpte431", 12: "smpte432"}[primaries],
		Transfer: map[uint16]string{
			1: "bt709", 4: "bt470m", 5: "bt470bg", 6: "smpte170m", 8: "linear", 13: "iec61966-2-1",
			14: "bt2020-10", 15: "bt2020-12", 16: "smpte2084", 17: "smpte428", 18: "arib-std-b67",
		}[transfer],
		Matrix: map[uint16]string{0: "gbr", 1: "bt709", 5: "bt470bg", 6: "smpte170m", 9: "bt2020nc", 10: "bt2020c"}[matrix],
	}
}

func alacConfig(s *Stream, data []byte) {
	f := fields{data: data}
	f.take(9)
	depth := f.u8()
	f.take(3)
	channels := f.u8()
	f.take(10)
	if rate := f.u32(); !f.short {
		s.BitDepth, s.Channels, s.SampleRate = int(depth), int(channels), wholeRate(float64(rate))
	}
}
