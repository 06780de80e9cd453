package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

const bufferBytes = 256 << 10

// check reads the file in order, close behind what arrives, and compares its
// digest. A file that does not become whole is an error, and so is the end of
// ctx: what an earlier process has left may take a minute to read.
func (d *download) check(ctx context.Context) error {
	if d.o.SHA256 == "" {
		return nil
	}
	sum, buffer := sha256.New(), make([]byte, bufferBytes)
	for at := int64(0); at < d.o.Bytes; {
		now := d.inARow(at)
		if now == at {
			return io.ErrUnexpectedEOF
		}
		for at < now {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n, err := d.file.ReadAt(buffer[:min(now-at, bufferBytes)], at)
			if err != nil && (err != io.EOF || n == 0) {
				return diskError(err)
			}
			sum.Write(buffer[:n])
			at += int64(n)
		}
	}
	if hexOf(sum) != strings.ToLower(d.o.SHA256) {
		return ErrDigest
	}
	return nil
}

func hexOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

// keep writes whole ranges into the journal, once their bytes are on the disk.
// A drive's own cache need not be emptied for it: the digest has the last word.
func (d *download) keep() error {
	defer d.keptNoMore()
	for d.o.SHA256 != "" {
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
		d.keptNow(whole)
	}
	return nil
}
