package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

const bufferBytes = 256 << 10

// check reads the file in order, close behind what arrives, and compares its
// digest. A file that does not become whole is an error.
func (d *download) check() error {
	if d.o.SHA256 == "" {
		return nil
	}
	sum, buffer := sha256.New(), make([]byte, bufferBytes)
	for at := int64(0); at < d.o.Bytes; {
		now := d.inARow(at)
		if now == at {
			return io.ErrUnexpectedEOF
		}
		if _, err := io.CopyBuffer(onlyWriter{sum}, io.NewSectionReader(d.file, at, now-at), buffer); err != nil {
			return diskError(err)
		}
		at = now
	}
	if hexOf(sum) != strings.ToLower(d.o.SHA256) {
		return ErrDigest
	}
	return nil
}

func hexOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

// onlyWriter hides what would take a buffer of its own.
type onlyWriter struct{ io.Writer }

// keep writes whole ranges into the journal, once their bytes are on the disk.
// A drive's own cache need not be emptied for it: the digest has the last word.
func (d *download) keep() error {
	if d.o.SHA256 == "" {
		return nil
	}
	for {
		whole := d.unkept()
		if len(whole) == 0 {
			return nil
		}
		if err := unix.Fsync(int(d.file.Fd())); err != nil {
			return diskError(err)
		}
		if err := d.journal.add(whole); err != nil {
			return diskError(err)
		}
		for _, i := range whole {
			d.kept[i] = true
		}
	}
}
