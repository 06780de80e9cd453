package probe

// edits is an edit list reduced to what it does to a whole track: how long
// nothing is shown first, and how long the media is shown; empty and shown count in the movie's timescale, which may be read later.
type edits struct {
	present   bool
	count     int // of those that show something; each may show the whole
	empty     float64
	shown     float64 // 0 is "to the end"
	fast      bool    // one is shown at another rate than 1
	mediaTime float64 // in the track's own timescale: skipped at the start
}

func (m *movie) editList(t *track, b box) error {
	head, err := m.bytes(b.off, min(8, b.size()))
	if err != nil || len(head) < 8 {
		return err
	}
	width := int64(12)
	if head[0] == 1 {
		width = 20
	}
	if count := int64(be.Uint32(head[4:])); head[0] > 1 || b.size() != 8+count*width {
		m.odd("its edit list (elst) has another length than it says")
	}
	table := m.stream(b.off+8, b.end)
	for range min(int64(be.Uint32(head[4:])), (b.size()-8)/width) {
		row, err := table.take(int(width))
		if err != nil {
			return err
		}
		t.edits.add(row)
	}
	return nil
}

func (e *edits) add(row []byte) {
	duration, mediaTime := float64(be.Uint32(row)), float64(int32(be.Uint32(row[4:])))
	if len(row) == 20 {
		duration, mediaTime = float64(be.Uint64(row)), float64(int64(be.Uint64(row[8:])))
	}
	if mediaTime >= 0 {
		e.count++
		e.fast = e.fast || be.Uint32(row[len(row)-4:]) != 1<<16
	}
	switch {
	case mediaTime >= 0 && !e.present:
		e.present, e.mediaTime, e.shown = true, mediaTime, duration
	case mediaTime >= 0:
		e.shown += duration
	case !e.present:
		e.empty += duration
	}
}
