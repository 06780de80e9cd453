package unzip

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// entry is one record of the directory.
type entry struct {
	raw     string // the name as both headers have it
	name    string // the same in UTF-8; a folder's without the slash at its end
	folder  bool
	flags   uint16
	method  uint16
	mode    uint32 // as Unix has it, 0 where the record has none
	sum     uint32
	packed  int64
	size    int64
	at      uint64 // of its local header
	dataAt  int64
	skipped bool
}

const (
	stored   = 0
	deflated = 8

	flagEncrypted = 1<<0 | 1<<6 | 1<<13
	flagStreamed  = 1 << 3 // sizes and checksum are behind the data
	flagPatch     = 1 << 5

	recordBytes = 46
	full32      = math.MaxUint32
)

// refuse names the entry; a name may hold anything, so that it is cleaned.
func (e *entry) refuse(format string, args ...any) error {
	return refused("the zip's entry %.80q %s", e.name, fmt.Sprintf(format, args...))
}

func readRecord(in *bufio.Reader) (entry, error) {
	b := make([]byte, recordBytes)
	if err := fill(in, b); err != nil {
		return entry{}, err
	}
	if le.Uint32(b) != directorySignature {
		return entry{}, errDirectory
	}
	nameBytes, extraBytes := int(le.Uint16(b[28:])), int(le.Uint16(b[30:]))
	rest := make([]byte, nameBytes+extraBytes)
	if err := fill(in, rest); err != nil {
		return entry{}, err
	}
	if _, err := in.Discard(int(le.Uint16(b[32:]))); err != nil {
		return entry{}, cutShort(err)
	}
	e := entry{
		raw: string(rest[:nameBytes]), flags: le.Uint16(b[8:]), method: le.Uint16(b[10:]), sum: le.Uint32(b[16:]),
	}
	e.setName()
	if made := b[5]; made == 3 || made == 19 { // Unix and macOS
		e.mode = le.Uint32(b[38:]) >> 16
	}
	if part := le.Uint16(b[34:]); part != 0 && part != math.MaxUint16 {
		return e, refused("the zip is one of several parts: join them first")
	}
	wide := [3]uint64{uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[42:]))}
	if !widen(wide[:], rest[nameBytes:]) || wide[0] > math.MaxInt64 || wide[1] > math.MaxInt64 {
		return e, e.refuse("has a size that makes no sense")
	}
	e.size, e.packed, e.at = int64(wide[0]), int64(wide[1]), wide[2]
	return e, nil
}

var errDirectory = refused("the zip is damaged: its directory makes no sense")

func fill(in *bufio.Reader, b []byte) error {
	_, err := io.ReadFull(in, b)
	return cutShort(err)
}

func cutShort(err error) error {
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return errDirectory
	case err != nil:
		return fmt.Errorf("read the zip: %w", err)
	}
	return nil
}

// widen takes each value that is full from the extra field of zip64, which holds
// just those, in this order.
func widen(values []uint64, extra []byte) bool {
	var wide []byte
	for len(extra) >= 4 {
		n := int(le.Uint16(extra[2:]))
		if n > len(extra)-4 {
			break
		}
		if le.Uint16(extra) == 1 {
			wide = extra[4 : 4+n]
			break
		}
		extra = extra[4+n:]
	}
	for i := range values {
		if values[i] != full32 {
			continue
		}
		if len(wide) < 8 {
			return false
		}
		values[i], wide = le.Uint64(wide), wide[8:]
	}
	return true
}

// setName reads names as UTF-8, which macOS writes without saying so, and what is
// none as the code page that the format began with.
func (e *entry) setName() {
	e.name, e.folder = strings.CutSuffix(e.raw, "/")
	if !utf8.ValidString(e.name) {
		e.name, _ = charmap.CodePage437.NewDecoder().String(e.name) // it knows every byte
	}
}

// check is what one record alone can have wrong.
func (e *entry) check() error {
	if fault := nameFault(e.name); fault != "" {
		return e.refuse("%s", fault)
	}
	const typeBits, regular, folder, link = 0o170000, 0o100000, 0o040000, 0o120000
	switch kind := e.mode & typeBits; {
	case e.flags&flagEncrypted != 0 || e.method == 99:
		return e.refuse("is encrypted: pack it without a password")
	case kind == link:
		return e.refuse("is a link: pack the file that it leads to")
	case kind != 0 && kind != regular && kind != folder:
		return e.refuse("is no file: devices, pipes and sockets are not accepted")
	case kind == folder && !e.folder, kind == regular && e.folder, e.folder && e.size != 0:
		return e.refuse("is both a file and a folder")
	case e.flags&flagPatch != 0 || e.method != stored && e.method != deflated:
		return e.refuse("is packed by method %d: only stored and deflated ones are accepted", e.method)
	case e.method == stored && e.packed != e.size:
		return e.refuse("has a size that makes no sense")
	}
	return nil
}
