package probe

import "math"

// trackHeader is what tkhd says of a track.
type trackHeader struct {
	id       uint32
	enabled  bool
	duration float64 // in the movie's timescale
	rotation int
	skewed   bool      // the matrix does more than turn by a right angle
	shape    [2]uint32 // the size, 16.16
	volume   uint16
}

func (m *movie) movieHeader(b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	m.timescale, m.duration, _ = clockOf(data)
	rateAt := 20
	if len(data) > 0 && data[0] == 1 {
		rateAt = 32
	}
	f := fields{data: data[min(rateAt, len(data)):]}
	rate, volume := f.u32(), f.u16()
	f.take(10)
	if _, skewed := turnOf(f.take(36)); !f.short && (rate != 1<<16 || volume != 1<<8 || skewed) {
		m.odd("its header (mvhd) plays it at another speed, volume or place")
	}
	return nil
}

func (m *movie) readTrackHeader(t *track, b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	f := fields{data: data}
	flags := f.u32()
	wide := flags>>24 == 1
	f.takeTime(wide)
	f.takeTime(wide)
	h := trackHeader{enabled: flags&1 != 0, id: f.u32()}
	f.u32()
	h.duration = f.takeTime(wide)
	f.take(12)
	h.volume = f.u16()
	f.u16()
	matrix := f.take(36)
	if f.short {
		return errf("the file is damaged: a track's header (tkhd) is too short")
	}
	h.rotation, h.skewed = turnOf(matrix)
	if len(f.data) >= 8 {
		h.shape = [2]uint32{f.u32(), f.u32()}
	}
	t.header = h
	if flags>>24 > 1 {
		m.odd("a track's header (tkhd) is of an unknown version")
	}
	return nil
}

// turnOf reads a matrix: how far it turns a picture, and whether that is all.
func turnOf(matrix []byte) (degrees int, skewed bool) {
	var v [9]int32
	for i := range v {
		v[i] = int32(be.Uint32(matrix[4*i:]))
	}
	a, b, c, d := v[0], v[1], v[3], v[4]
	turn := math.Atan2(float64(b), float64(a)) * 180 / math.Pi
	right := a == d && b == -c && (a == 0) != (b == 0) && (a == 1<<16 || a == -1<<16 || b == 1<<16 || b == -1<<16)
	moved := a == 1<<16 && (v[6] != 0 || v[7] != 0)
	return (int(math.Round(turn)) + 360) % 360, !right || moved || v[2] != 0 || v[5] != 0 || v[8] != 1<<30
}

// clockOf reads what mvhd and mdhd have in common. An unknown duration is 0.
func clockOf(data []byte) (scale uint32, duration float64, language string) {
	f := fields{data: data}
	wide := f.u32()>>24 == 1
	f.takeTime(wide)
	f.takeTime(wide)
	if scale = f.u32(); f.short {
		return 0, 0, ""
	}
	duration = f.takeTime(wide)
	return scale, duration, packedLanguage(f.u16())
}

// takeTime reads a number of 64 bits where wide, of 32 otherwise; all ones mean
// that it is unknown.
func (f *fields) takeTime(wide bool) float64 {
	if wide {
		return known(f.u64(), math.MaxUint64)
	}
	return known(uint64(f.u32()), math.MaxUint32)
}

func known(v, unknown uint64) float64 {
	if v == unknown {
		return 0
	}
	return float64(v)
}

// packedLanguage is three letters of five bits; QuickTime's small numbers are
// no letters and give "".
func packedLanguage(v uint16) string {
	letters := []byte{byte(v>>10&31) + 0x60, byte(v>>5&31) + 0x60, byte(v&31) + 0x60}
	for _, c := range letters {
		if c < 'a' || c > 'z' {
			return ""
		}
	}
	return string(letters)
}

// dataReferences refuses a film whose pictures lie in another file.
func (m *movie) dataReferences(b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	f := fields{data: data}
	f.take(4)
	for range f.u32() {
		size := int64(f.u32())
		f.take(4)
		flags := f.u32()
		if f.short || size < 12 || size-12 > int64(len(f.data)) {
			return errf("the file is damaged: its dref box is too short")
		}
		if flags&1 == 0 {
			return errf("the file keeps its media in another file")
		}
		f.take(int(size - 12))
	}
	return nil
}
