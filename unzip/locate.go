package unzip

import (
	"cmp"
	"context"
	"slices"
)

const localBytes = 30

// locate finds where each entry's data begins, by its local header, which must
// say what the directory says. No two entries may share a byte: that is how a
// few kilobytes become terabytes.
func (z zipFile) locate(ctx context.Context, entries []entry, end int64) error {
	order := make([]*entry, len(entries))
	for i := range entries {
		order[i] = &entries[i]
	}
	slices.SortFunc(order, func(a, b *entry) int { return cmp.Compare(a.at, b.at) })
	for i, e := range order {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		limit := end
		if i+1 < len(order) {
			limit = int64(order[i+1].at)
		}
		if err := z.locateOne(e, limit); err != nil {
			return err
		}
		if e.packed > limit-e.dataAt {
			return e.refuse("overlaps with another, or with the directory")
		}
	}
	return nil
}

func (z zipFile) locateOne(e *entry, limit int64) error {
	at := int64(e.at)
	if limit-at < int64(localBytes+len(e.raw)) {
		return e.refuse("overlaps with another, or with the directory")
	}
	b, err := z.read(at, localBytes+len(e.raw))
	if err != nil {
		return err
	}
	extraAt, extraBytes := at+int64(len(b)), int(le.Uint16(b[28:]))
	if e.dataAt = extraAt + int64(extraBytes); e.dataAt > limit {
		return e.refuse("overlaps with another, or with the directory")
	}
	extra, err := z.read(extraAt, extraBytes)
	if err != nil {
		return err
	}
	const telling = flagEncrypted | flagStreamed | flagPatch
	if le.Uint32(b) != localSignature || int(le.Uint16(b[26:])) != len(e.raw) || string(b[localBytes:]) != e.raw ||
		le.Uint16(b[8:]) != e.method || le.Uint16(b[6:])&telling != e.flags&telling || !e.sameSizes(b, extra) {
		return e.refuse("has two headers that do not agree")
	}
	return nil
}

// sameSizes allows zeros where the entry was streamed: its sizes were not known yet.
func (e *entry) sameSizes(b, extra []byte) bool {
	sum := le.Uint32(b[14:])
	sizes := [2]uint64{uint64(le.Uint32(b[22:])), uint64(le.Uint32(b[18:]))}
	if !widen(sizes[:], extra) {
		return false
	}
	if e.flags&flagStreamed != 0 && sum == 0 && sizes == [2]uint64{} {
		return true
	}
	return sum == e.sum && sizes == [2]uint64{uint64(e.size), uint64(e.packed)}
}
