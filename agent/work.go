package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"rendermac/agentproto"
	"rendermac/failpoint"
	"rendermac/fence"
)

// spare is what must stay free in the work folder beside what a run needs.
const spare = 128 << 20

// makeFolder makes the run's own folder, 0700, under a name of our choosing.
func (r *run) makeFolder() error {
	dir, err := os.MkdirTemp(r.a.WorkDir, folderPrefix+"*")
	if err != nil {
		return diskFailure(fmt.Errorf("make a work folder: %w", err))
	}
	r.dir = dir
	failpoint.At("agent.folder.after")
	return nil
}

// room fails where the work folder has no room for so many bytes, not even once
// the cache has given way.
func (r *run) room(bytes int64, what string) error {
	lacking := func() int64 { return bytes + spare - freeBytes(r.a.WorkDir) }
	if lacking() <= 0 || r.a.cache.giveWay(lacking) && lacking() <= 0 {
		return nil
	}
	return failed(fence.InternalError, "no room for %s: it needs %d MB and the work folder's disk has %d MB left: free some space or set agent.work_dir",
		what, (bytes+spare)>>20, freeBytes(r.a.WorkDir)>>20)
}

func freeBytes(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return int64(uint64(s.Bavail) * uint64(s.Bsize))
}

func diskFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// diskFailure is err, told as what it means where the disk is full.
func diskFailure(err error) error {
	if diskFull(err) {
		return failed(fence.InternalError, "the work folder's disk is full: free some space or set agent.work_dir")
	}
	return err
}

// measure reads the finished output once, for the digests of the whole and of
// each part, and keeps the result. The bytes are synced first: their identity
// must not outlive them.
func (r *run) measure(ctx context.Context, path string, warnings []string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the output: %w", err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil {
		return diskFailure(fmt.Errorf("sync the output: %w", err))
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	parts, whole, err := measureParts(endable{ctx, file}, fence.PartBytes(info.Size(), r.offer.Output.PartBytes))
	if err != nil {
		return fmt.Errorf("read the output: %w", err)
	}
	res := &result{File: filepath.Base(path), SHA256: whole, Parts: parts, Warnings: warnings}
	for _, p := range parts {
		res.Bytes += p.Bytes
	}
	r.set(func() { r.result = res })
	r.keep()
	return nil
}

// measureParts cuts what it reads into parts of size bytes, the last one
// shorter; nothing at all is one empty part.
func measureParts(in io.Reader, size int64) (parts []agentproto.Part, whole string, err error) {
	if size <= 0 {
		size = math.MaxInt64
	}
	all := sha256.New()
	for number := 1; ; number++ {
		one := sha256.New()
		n, err := io.Copy(io.MultiWriter(one, all), io.LimitReader(in, size))
		if err != nil {
			return nil, "", err
		}
		if n > 0 || number == 1 {
			parts = append(parts, agentproto.Part{Number: number, Bytes: n, SHA256: hexSum(one)})
		}
		if n < size {
			return parts, hexSum(all), nil
		}
	}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// endable is a reader that ends with its context.
type endable struct {
	ctx context.Context
	io.Reader
}

func (e endable) Read(p []byte) (int, error) {
	if e.ctx.Err() != nil {
		return 0, context.Cause(e.ctx)
	}
	return e.Reader.Read(p)
}
