// Package unzip unpacks zips from strangers: regular files and folders, nothing
// that leads out of its folder, and no more than the caller allows. Everything
// that the zip's directory says is checked before the first file is written, and
// again while it is: the two headers of an entry, and a header and its bytes, may
// each say something else.
package unzip

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
)

// Limits bound what a zip may hold.
type Limits struct {
	Bytes   int64                   // of content, unpacked, without what Skip leaves out
	Entries int                     // files and folders, with what Skip leaves out
	Skip    func(name string) bool  // what stays packed; nil skips nothing
	Room    func(bytes int64) error // is asked for it all before anything is written; may be nil
	Wrote   func(bytes int64)       // is told what reaches the disk; may be nil
}

// Refused is one plain sentence on what is wrong with the zip. Every other error
// is this machine's: a disk that is full or fails, a context that has ended.
type Refused struct{ Message string }

func (r *Refused) Error() string { return r.Message }

func refused(format string, args ...any) error { return &Refused{fmt.Sprintf(format, args...)} }

// Extract unpacks the zip at path into dir, which it makes. It answers the files
// in the zip's own order, as slash-separated paths in dir. Where it fails, dir is
// not there.
func Extract(ctx context.Context, path, dir string, limits Limits) (names []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the zip: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the zip: %w", err)
	}
	z := zipFile{file, info.Size()}
	entries, err := z.entries(ctx, limits)
	if err != nil {
		return nil, err
	}
	if limits.Room != nil {
		if err := limits.Room(contentOf(entries)); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder to unpack into: %w", err)
	}
	if names, err = z.unpack(ctx, entries, dir, limits); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return names, nil
}

// entries is everything that the zip holds, once all that can be known of it
// without inflating is found right.
func (z zipFile) entries(ctx context.Context, limits Limits) ([]entry, error) {
	end, err := z.findEnd()
	if err != nil {
		return nil, err
	}
	entries, err := z.directory(ctx, end, limits.Entries)
	if err != nil {
		return nil, err
	}
	names := newNameBook()
	for i := range entries {
		e := &entries[i]
		if err := e.check(); err != nil {
			return nil, err
		}
		if err := names.add(e); err != nil {
			return nil, err
		}
		e.skipped = limits.Skip != nil && limits.Skip(e.name)
	}
	if contentOf(entries) > limits.Bytes {
		return nil, refused("the zip unpacks to more than %d bytes, which is the most that is accepted here", limits.Bytes)
	}
	return entries, z.locate(ctx, entries, int64(end.at))
}

// contentOf is how much the entries unpack to, by what they announce.
func contentOf(entries []entry) (total int64) {
	for _, e := range entries {
		if e.size > math.MaxInt64-total {
			return math.MaxInt64
		}
		if !e.skipped {
			total += e.size
		}
	}
	return total
}
