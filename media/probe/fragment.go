package probe

// sampleDefaults is what trex, and over it tfhd, say of samples whose run does not.
type sampleDefaults struct{ duration, size uint32 }

func (m *movie) trackByID(id uint32) *track {
	for _, t := range m.tracks {
		if t.header.id == id {
			return t
		}
	}
	return nil
}

func (m *movie) inMvex(b box) error {
	if b.typ != "trex" {
		return nil
	}
	data, err := m.small(b)
	if err != nil {
		return err
	}
	if len(data) < 24 {
		return errf("the file is damaged: its trex box is too short")
	}
	if len(m.defaults) < maxTracks {
		m.defaults[be.Uint32(data[4:])] = sampleDefaults{duration: be.Uint32(data[12:]), size: be.Uint32(data[16:])}
	}
	return nil
}

// run is the state inside one traf: where the next run's data lies.
type run struct {
	track    *track
	defaults sampleDefaults
	base     int64 // what data offsets count from
	at       int64 // where data goes on if a run names no offset
}

func (m *movie) fragment(moof box) error {
	m.odd("it is in fragments, of which the last may be missing")
	if !m.moov {
		return errf("the file has no index (moov) before its fragments")
	}
	return m.children(moof, func(b box) error {
		if b.typ != "traf" {
			return nil
		}
		r := &run{base: moof.start, at: moof.start}
		return m.children(b, func(b box) error { return m.inTraf(r, b) })
	})
}

func (m *movie) inTraf(r *run, b box) error {
	switch b.typ {
	case "tfhd":
		return m.fragmentHeader(r, b)
	case "tfdt":
		return m.fragmentTime(r, b)
	case "trun":
		if r.track == nil {
			return errf("the file is damaged: a fragment belongs to no track")
		}
		return m.trackRun(r, b)
	}
	return nil
}

func (m *movie) fragmentHeader(r *run, b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	f := fields{data: data}
	flags := f.u32() & 0xffffff
	r.track = m.trackByID(f.u32())
	if r.track == nil {
		return errf("the file is damaged: a fragment belongs to no track")
	}
	r.defaults = m.defaults[r.track.header.id]
	if flags&0x1 != 0 {
		r.base = int64(f.u64() & (1<<63 - 1))
		r.at = r.base
	}
	if flags&0x2 != 0 {
		f.u32()
	}
	if flags&0x8 != 0 {
		r.defaults.duration = f.u32()
	}
	if flags&0x10 != 0 {
		r.defaults.size = f.u32()
	}
	return f.err("tfhd")
}

func (m *movie) fragmentTime(r *run, b box) error {
	data, err := m.small(b)
	if err != nil {
		return err
	}
	f := fields{data: data}
	version := f.u32() >> 24
	at := float64(0)
	if version == 1 {
		at = float64(f.u64())
	} else {
		at = float64(f.u32())
	}
	if r.track != nil && !r.track.begun {
		r.track.begun, r.track.firstTick = true, at
	}
	return f.err("tfdt")
}

// trackRun adds a run's samples to its track and checks that they lie in the file.
func (m *movie) trackRun(r *run, b box) error {
	head, err := m.bytes(b.off, min(16, b.size()))
	if err != nil {
		return err
	}
	f := fields{data: head}
	flags, count := f.u32()&0xffffff, int64(f.u32())
	at := b.off + 8
	if flags&0x1 != 0 {
		r.at = r.base + int64(int32(f.u32()))
		at += 4
	}
	if flags&0x4 != 0 {
		at += 4
	}
	if err := f.err("trun"); err != nil {
		return err
	}
	rowBytes := int64(0)
	for _, flag := range []uint32{0x100, 0x200, 0x400, 0x800} {
		if flags&flag != 0 {
			rowBytes += 4
		}
	}
	if rowBytes > 0 && count > (b.end-at)/rowBytes {
		return errf("the file is damaged: its trun table claims more rows than it has")
	}
	bytes, err := m.runRows(r, m.runs.over(m.file, at, b.end), flags, count, int(rowBytes))
	if err != nil {
		return err
	}
	if r.at < 0 || r.at > m.size || bytes > m.size-r.at {
		return errf("the file ends early: a fragment points past the end")
	}
	m.covers(r.at, r.at+bytes)
	r.at += bytes
	return nil
}

func (m *movie) runRows(r *run, rows *tableReader, flags uint32, count int64, rowBytes int) (bytes int64, err error) {
	if flags&0xb00 == 0 {
		r.track.add(count, r.defaults.duration, 0)
		return product(count, int64(r.defaults.size)), nil
	}
	for range count {
		row, err := rows.take(rowBytes)
		if err != nil {
			return 0, err
		}
		duration, size, shift := r.defaults.duration, r.defaults.size, float64(0)
		if flags&0x100 != 0 {
			duration, row = be.Uint32(row), row[4:]
		}
		if flags&0x200 != 0 {
			size, row = be.Uint32(row), row[4:]
		}
		if flags&0x800 != 0 {
			shift = float64(int32(be.Uint32(row[len(row)-4:])))
		}
		r.track.add(1, duration, shift)
		bytes += int64(size)
	}
	return bytes, nil
}
