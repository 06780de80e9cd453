package probe

import "errors"

// tables are the boxes of stbl that say where each sample lies and how long it
// lasts.
type tables struct {
	stts, stsz, stz2, stsc, stco, co64, ctts, stss box
	entries                                        uint32 // of stsd
}

func (t *tables) note(b box) {
	places := map[string]*box{
		"stts": &t.stts, "stsz": &t.stsz, "stz2": &t.stz2, "stsc": &t.stsc, "stco": &t.stco, "co64": &t.co64, "ctts": &t.ctts, "stss": &t.stss,
	}
	if place := places[b.typ]; place != nil {
		*place = b
	}
}

// keyFrames looks at stss, by which players seek: samples in order.
func (t *tables) keyFrames(m *movie, samples int64) error {
	if t.stss.typ == "" {
		return nil
	}
	rows, count, err := m.table(t.stss, 8, 4)
	if err != nil {
		return err
	}
	last := int64(0)
	for range count {
		row, err := rows.u32()
		if err != nil {
			return err
		}
		if int64(row) <= last || int64(row) > samples {
			return errf("the file is damaged: its stss table names samples that there are not, or out of order")
		}
		if last == 0 && row != 1 {
			m.odd("its first picture is no key frame")
		}
		last = int64(row)
	}
	return nil
}

// check walks all tables of a track side by side: their counts agree, and each
// chunk lies inside the file.
func (t *tables) check(m *movie, tr *track) error {
	if t.stts.typ == "" && t.stsc.typ == "" && t.stsz.typ == "" && t.stz2.typ == "" {
		return errf("the file is damaged: a track has no sample table")
	}
	if err := t.times(m, tr); err != nil {
		return err
	}
	sizes, err := t.sizes(m)
	if err != nil {
		return err
	}
	if tr.frames != sizes.count {
		return errf("the file is damaged: a sample table times %d samples and sizes %d", tr.frames, sizes.count)
	}
	if err := t.keyFrames(m, tr.frames); err != nil {
		return err
	}
	return t.chunks(m, sizes)
}

// times walks stts and ctts together, in runs that share both values.
func (t *tables) times(m *movie, tr *track) error {
	steps, err := m.pairs(t.stts)
	if err != nil {
		return err
	}
	shifts := &pairs{}
	if t.ctts.typ != "" {
		if shifts, err = m.pairs(t.ctts); err != nil {
			return err
		}
	}
	for {
		if err := errors.Join(steps.fill(), shifts.fill()); err != nil {
			return err
		}
		if t.ctts.typ != "" && (steps.n == 0) != (shifts.n == 0) {
			return errf("the file is damaged: its tables of times (stts, ctts) count samples differently")
		}
		if steps.n == 0 {
			return nil
		}
		n, shift := steps.n, float64(0)
		if shifts.n > 0 {
			n, shift = min(n, shifts.n), float64(int32(shifts.value))
			shifts.n -= n
		}
		steps.n -= n
		tr.add(n, steps.value, shift)
	}
}
