package probe

// sizeTable gives the sizes of samples in order: one for all, or a row each.
type sizeTable struct {
	all   int64
	count int64
	bits  int
	rows  *tableReader
	half  int64 // the second of two 4-bit sizes, or -1
}

func (t *tables) sizes(m *movie) (*sizeTable, error) {
	if t.stz2.typ != "" {
		return t.compactSizes(m)
	}
	// With one size for all, the count has no rows behind it.
	if t.stsz.size() < 12 {
		return nil, errf("the file is damaged: its stsz table is too short")
	}
	head, err := m.bytes(t.stsz.off, 12)
	if err != nil {
		return nil, err
	}
	if all := int64(be.Uint32(head[4:])); all > 0 {
		if m.plain(t.stsz, head); t.stsz.size() > 12 {
			m.odd("its stsz table has more room than rows")
		}
		return &sizeTable{all: all, count: int64(be.Uint32(head[8:]))}, nil
	}
	rows, count, err := m.table(t.stsz, 12, 4)
	return &sizeTable{count: count, bits: 32, rows: rows}, err
}

func (t *tables) compactSizes(m *movie) (*sizeTable, error) {
	if t.stz2.size() < 12 {
		return nil, errf("the file is damaged: its stz2 table is too short")
	}
	head, err := m.bytes(t.stz2.off, 12)
	if err != nil {
		return nil, err
	}
	s := &sizeTable{bits: int(head[7]), count: int64(be.Uint32(head[8:])), half: -1}
	if s.bits != 4 && s.bits != 8 && s.bits != 16 {
		return nil, errf("the file is damaged: its stz2 table has rows of %d bits", s.bits)
	}
	if s.count > (t.stz2.size()-12)*8/int64(s.bits) {
		return nil, errf("the file is damaged: its stz2 table claims more rows than it has")
	}
	s.rows = m.stream(t.stz2.off+12, t.stz2.end)
	return s, nil
}

func (s *sizeTable) next() (int64, error) {
	if s.bits == 32 {
		n, err := s.rows.u32()
		return int64(n), err
	}
	if s.bits == 4 && s.half >= 0 {
		n := s.half
		s.half = -1
		return n, nil
	}
	row, err := s.rows.take(max(1, s.bits/8))
	if err != nil {
		return 0, err
	}
	switch s.bits {
	case 4:
		s.half = int64(row[0] & 15)
		return int64(row[0] >> 4), nil
	case 8:
		return int64(row[0]), nil
	}
	return int64(be.Uint16(row)), nil
}

// sum is the size of the next n samples.
func (s *sizeTable) sum(n int64) (total int64, err error) {
	if s.all > 0 {
		return product(n, s.all), nil
	}
	for range n {
		size, err := s.next()
		if err != nil {
			return 0, err
		}
		total += size
	}
	return total, nil
}
