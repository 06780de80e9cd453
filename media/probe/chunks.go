package probe

// chunkOffsets streams stco or co64.
type chunkOffsets struct {
	rows  *tableReader
	count int64
	wide  bool
}

func (c chunkOffsets) next() (uint64, error) {
	if !c.wide {
		n, err := c.rows.u32()
		return uint64(n), err
	}
	row, err := c.rows.take(8)
	if err != nil {
		return 0, err
	}
	return be.Uint64(row), nil
}

func (t *tables) offsets(m *movie) (c chunkOffsets, err error) {
	if c.wide = t.co64.typ != ""; c.wide {
		c.rows, c.count, err = m.table(t.co64, 8, 8)
		return c, err
	}
	c.rows, c.count, err = m.table(t.stco, 8, 4)
	return c, err
}

// chunkRuns streams stsc: from which chunk on, how many samples a chunk has.
type chunkRuns struct {
	rows           *tableReader
	left           int64
	entries        uint32 // descriptions that there are
	perChunk       int64
	nextAt, nextIs int64 // the following run, 0 where there is none
}

func (t *tables) runs(m *movie) (*chunkRuns, error) {
	rows, count, err := m.table(t.stsc, 8, 12)
	if err != nil {
		return nil, err
	}
	r := &chunkRuns{rows: rows, left: count, entries: t.entries}
	return r, r.advance()
}

func (r *chunkRuns) advance() error {
	r.perChunk = r.nextIs
	if r.left == 0 {
		r.nextAt = 0
		return nil
	}
	r.left--
	row, err := r.rows.take(12)
	if err != nil {
		return err
	}
	at := int64(be.Uint32(row))
	if at <= r.nextAt {
		return errf("the file is damaged: its stsc table is out of order")
	}
	r.nextAt, r.nextIs = at, int64(be.Uint32(row[4:]))
	if which := be.Uint32(row[8:]); which == 0 || which > r.entries {
		return errf("the file is damaged: its chunks are of a description (stsd) that there is not")
	}
	return nil
}

// samplesOf is the number of samples of the chunk; chunks are asked in order.
func (r *chunkRuns) samplesOf(chunk int64) (int64, error) {
	if chunk == r.nextAt {
		if err := r.advance(); err != nil {
			return 0, err
		}
	}
	return r.perChunk, nil
}

func (t *tables) chunks(m *movie, sizes *sizeTable) error {
	offsets, err := t.offsets(m)
	if err != nil {
		return err
	}
	runs, err := t.runs(m)
	if err != nil {
		return err
	}
	left := sizes.count
	for chunk := int64(1); chunk <= offsets.count; chunk++ {
		n, err := runs.samplesOf(chunk)
		if err != nil {
			return err
		}
		if n > left {
			return errf("the file is damaged: its chunks hold more samples than its sample table sizes")
		}
		left -= n
		if err := t.inside(m, offsets, sizes, n); err != nil {
			return err
		}
	}
	if left != 0 {
		return errf("the file is damaged: %d of its samples lie in no chunk", left)
	}
	return nil
}

// inside reads one chunk's offset and sizes: all of it must be in the file.
func (t *tables) inside(m *movie, offsets chunkOffsets, sizes *sizeTable, n int64) error {
	off, err := offsets.next()
	if err != nil {
		return err
	}
	bytes, err := sizes.sum(n)
	if err != nil {
		return err
	}
	if bytes < 0 || off > uint64(m.size) || bytes > m.size-int64(off) {
		return errf("the file ends early: its sample table points past the end")
	}
	m.covers(int64(off), int64(off)+bytes)
	return nil
}
