package unzip

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

var le = binary.LittleEndian

// zipFile is the zip's bytes.
type zipFile struct {
	io.ReaderAt
	size int64
}

// read answers n bytes at an offset, all of which lie inside the file.
func (z zipFile) read(at int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if _, err := z.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("read the zip: %w", err)
	}
	return b, nil
}

const (
	endSignature       = 0x06054b50
	locatorSignature   = 0x07064b50
	end64Signature     = 0x06064b50
	directorySignature = 0x02014b50
	localSignature     = 0x04034b50

	endBytes, locatorBytes, end64Bytes = 22, 20, 56
)

// end is what the end record says of the directory: where it is, how long, and
// how many entries it has.
type end struct{ at, bytes, entries uint64 }

// findEnd reads the record at the very end, behind which only a comment may be.
func (z zipFile) findEnd() (end, error) {
	tail, err := z.read(max(0, z.size-endBytes-math.MaxUint16), int(min(z.size, endBytes+math.MaxUint16)))
	if err != nil {
		return end{}, err
	}
	for i := len(tail) - endBytes; i >= 0; i-- {
		if le.Uint32(tail[i:]) == endSignature && int(le.Uint16(tail[i+20:])) == len(tail)-i-endBytes {
			return z.readEnd(tail[i:], z.size-int64(len(tail)-i))
		}
	}
	head, err := z.read(0, int(min(z.size, 4)))
	switch {
	case err != nil:
		return end{}, err
	case z.size == 0:
		return end{}, refused("the zip is empty (0 bytes)")
	case len(head) == 4 && le.Uint32(head) == localSignature:
		return end{}, refused("the zip is cut short: its directory, which comes last, is missing")
	}
	return end{}, refused("the file is no zip")
}

// readEnd also reads the record of zip64, where there is one: what does not fit
// into the plain one is there, and the rest must agree.
func (z zipFile) readEnd(b []byte, at int64) (end, error) {
	disks := []uint64{uint64(le.Uint16(b[4:])), uint64(le.Uint16(b[6:]))}
	e := end{at: uint64(le.Uint32(b[16:])), bytes: uint64(le.Uint32(b[12:])), entries: uint64(le.Uint16(b[10:]))}
	here := uint64(le.Uint16(b[8:]))
	big, bigAt, err := z.findEnd64(at)
	if err != nil {
		return e, err
	}
	wide := big != nil
	if wide {
		at = bigAt
		if !agrees(&e.at, le.Uint64(big[48:]), math.MaxUint32) || !agrees(&e.bytes, le.Uint64(big[40:]), math.MaxUint32) ||
			!agrees(&e.entries, le.Uint64(big[32:]), math.MaxUint16) || !agrees(&here, le.Uint64(big[24:]), math.MaxUint16) ||
			!agrees(&disks[0], uint64(le.Uint32(big[16:])), math.MaxUint16) || !agrees(&disks[1], uint64(le.Uint32(big[20:])), math.MaxUint16) {
			return e, refused("the zip is damaged: its two end records do not agree")
		}
	}
	switch {
	case disks[0] != 0 || disks[1] != 0 || here != e.entries:
		return e, refused("the zip is one of several parts: join them first")
	case e.bytes > uint64(at) || e.at > uint64(at) || e.at+e.bytes != uint64(at):
		if gap := uint64(at) - e.bytes - e.at; !wide && gap != 0 && gap%(1<<32) == 0 {
			return e, refused("the zip is larger than 4 GiB and was not written as zip64: pack it with another program, e.g. zip -r in a terminal")
		}
		return e, refused("the zip is damaged: its directory does not lie where its end says")
	}
	return e, nil
}

// agrees takes the wide value where the narrow one is full, and else wants both
// to be the same.
func agrees(narrow *uint64, wide, full uint64) bool {
	if *narrow == full {
		*narrow = wide
	}
	return *narrow == wide
}

// findEnd64 is the end record of zip64 and where it begins; nil where there is none.
func (z zipFile) findEnd64(endAt int64) ([]byte, int64, error) {
	if endAt < locatorBytes+end64Bytes {
		return nil, 0, nil
	}
	locator, err := z.read(endAt-locatorBytes, locatorBytes)
	if err != nil || le.Uint32(locator) != locatorSignature {
		return nil, 0, err
	}
	wrong := refused("the zip is damaged: its zip64 end record is not where it should be")
	at := le.Uint64(locator[8:])
	if at > uint64(endAt-locatorBytes-end64Bytes) {
		return nil, 0, wrong
	}
	b, err := z.read(int64(at), end64Bytes)
	if err != nil {
		return nil, 0, err
	}
	if le.Uint32(b) != end64Signature || le.Uint64(b[4:]) != uint64(endAt)-locatorBytes-at-12 {
		return nil, 0, wrong
	}
	return b, int64(at), nil
}

// directory reads every record of the directory. It is never larger in memory
// than the limit allows: the records are counted before they are read.
func (z zipFile) directory(ctx context.Context, e end, limit int) ([]entry, error) {
	if e.entries > uint64(limit) {
		return nil, refused("the zip holds %d entries: at most %d are accepted", e.entries, limit)
	}
	in := bufio.NewReaderSize(io.NewSectionReader(z, int64(e.at), int64(e.bytes)), 1<<16)
	var entries []entry
	for range e.entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		one, err := readRecord(in)
		if err != nil {
			return nil, err
		}
		if one.at > e.at || one.packed > int64(e.at) {
			return nil, one.refuse("lies outside the zip")
		}
		entries = append(entries, one)
	}
	if _, err := in.ReadByte(); err == nil {
		return nil, refused("the zip holds more entries than its end says: with more than 65,535 it must be written as zip64 (zip -r in a terminal does)")
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the zip: %w", err)
	}
	return entries, nil
}
