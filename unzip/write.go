package unzip

import (
	"bufio"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path"
)

// unpacker writes entries below a folder that no name leads out of.
type unpacker struct {
	zipFile
	root   *os.Root
	wrote  func(bytes int64)
	buffer []byte
	packed *bufio.Reader
	plain  io.ReadCloser // of flate, and reset for each entry
}

func (z zipFile) unpack(ctx context.Context, entries []entry, dir string, limits Limits) ([]string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	defer root.Close()
	u := &unpacker{zipFile: z, root: root, wrote: limits.Wrote, buffer: make([]byte, 1<<17), packed: bufio.NewReaderSize(nil, 1<<16)}
	u.plain = flate.NewReader(u.packed)
	if u.wrote == nil {
		u.wrote = func(int64) {}
	}
	names := []string{}
	for i := range entries {
		e := &entries[i]
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case e.skipped:
			continue
		case e.folder:
			err = u.folder(e.name)
		default:
			err = u.file(ctx, e)
			names = append(names, e.name)
		}
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

func (u *unpacker) folder(name string) error {
	if err := u.root.MkdirAll(name, 0o700); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	return nil
}

func (u *unpacker) file(ctx context.Context, e *entry) error {
	if err := u.folder(path.Dir(e.name)); err != nil {
		return err
	}
	out, err := u.root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return e.refuse("has a name that this disk takes for another's")
	case err != nil:
		return fmt.Errorf("unpack: %w", err)
	}
	err = u.content(ctx, e, out)
	if closed := out.Close(); err == nil && closed != nil {
		err = fmt.Errorf("unpack: %w", closed)
	}
	return err
}

// content writes an entry's bytes, which must be as many as announced and have
// the announced checksum. It never writes more.
func (u *unpacker) content(ctx context.Context, e *entry, out io.Writer) error {
	in, sum, left := u.open(e), crc32.NewIEEE(), e.size
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := in.Read(u.buffer)
		if left -= int64(n); left < 0 {
			return e.refuse("unpacks to more than the %d bytes that it announces", e.size)
		}
		sum.Write(u.buffer[:n])
		if _, err := out.Write(u.buffer[:n]); err != nil {
			return fmt.Errorf("unpack: %w", err)
		}
		u.wrote(int64(n))
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(flate.CorruptInputError)):
			return e.refuse("is damaged: it cannot be inflated")
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("read the zip: %w", err)
		case left > 0:
			return e.refuse("unpacks to fewer than the %d bytes that it announces", e.size)
		case sum.Sum32() != e.sum:
			return e.refuse("is damaged: its checksum is wrong")
		}
		return nil
	}
}

func (u *unpacker) open(e *entry) io.Reader {
	section := io.NewSectionReader(u.zipFile, e.dataAt, e.packed)
	if e.method == stored {
		return section
	}
	u.packed.Reset(section)
	_ = u.plain.(flate.Resetter).Reset(u.packed, nil) // it always answers nil
	return u.plain
}
