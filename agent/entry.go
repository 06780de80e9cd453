package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"rendermac/failpoint"
)

// entry is one digest's bytes in the cache: whole under the digest itself, on
// their way beside it.
type entry struct {
	c    *cache
	path string
	turn chan struct{} // holds one token: whose it is fetches or checks the bytes

	// What follows changes under the cache's lock.
	users int
	size  int64     // on the disk; what it will be, while a run uses it
	used  time.Time // last; the file's mtime says so to the next agent
	sound stamp     // of the whole file when its digest was last found right
	shown map[*hold]func(int64)
}

// hold is one run's use of an entry.
type hold struct {
	*entry
	over bool
}

// stamp is how a change of a file shows without reading it. The number of its
// names, and with it ctime, changes with each run.
type stamp struct {
	inode    uint64
	size     int64
	modified time.Time
}

func stampOf(path string) (stamp, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.Sys().(*syscall.Stat_t).Ino, info.Size(), info.ModTime()}, nil
}

// fill makes sure of the bytes: they are here and sound, or fetch brings them
// into the file that it is given. Others who want the same wait here meanwhile,
// and are shown how far it has come; where fetch fails the next of them tries.
func (h *hold) fill(ctx context.Context, bytes int64, shown func(have int64), fetch func(path string, have func(int64)) error) error {
	h.c.change(func() { h.shown[h] = shown })
	defer h.c.change(func() { delete(h.shown, h) })
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	sound, err := h.check(ctx, bytes)
	if sound || err != nil {
		return err
	}
	if err := h.c.makeFolder(); err != nil {
		return err
	}
	if err := fetch(h.coming(), h.tell); err != nil {
		return err
	}
	return h.accept()
}

func (c *cache) change(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

const comingSuffix = ".part"

// coming is the file of bytes that are not whole yet.
func (e *entry) coming() string { return e.path + comingSuffix }

// tell shows everyone who waits how many bytes are here.
func (e *entry) tell(have int64) {
	e.c.change(func() {
		for _, shown := range e.shown {
			shown(have)
		}
	})
}

// check says whether the whole file may be used. Its digest was right when it
// was fetched. That it has not changed since shows in its stamp for as long as
// this agent runs; one that an earlier agent has left is read again, once:
// forty gigabytes take less than a minute, and a run on bad input wastes hours.
func (e *entry) check(ctx context.Context, bytes int64) (bool, error) {
	now, err := stampOf(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var before stamp
	e.c.change(func() { before = e.sound })
	if err == nil && now == before && now.size == bytes {
		e.c.change(e.touch)
		e.tell(bytes)
		return true, nil
	}
	if err == nil && now.size == bytes {
		var right bool
		if right, err = e.digestIsRight(ctx); right {
			e.note(now)
			return true, nil
		}
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	e.c.log.Warn("cached input is not what it was, and is fetched anew", "path", e.path, "error", err)
	return false, e.remove()
}

// digestIsRight reads the whole file.
func (e *entry) digestIsRight(ctx context.Context) (bool, error) {
	file, err := os.Open(e.path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var have int64
	sum := sha256.New()
	_, err = io.CopyBuffer(sum, counted{endable{ctx, file}, func() {}, func(n int64) {
		have += n
		e.tell(have)
	}}, make([]byte, 1<<20))
	return err == nil && hexSum(sum) == filepath.Base(e.path), err
}

// accept takes the bytes that have come, which nobody writes any more.
func (e *entry) accept() error {
	failpoint.At("agent.cache.before")
	err := os.Rename(e.coming(), e.path)
	failpoint.At("agent.cache.after")
	if err != nil {
		return diskFailure(fmt.Errorf("keep the input: %w", err))
	}
	// Under its final name only: an agent killed before that must be able to go on
	// with the file. One that is killed here leaves it as it is, and right.
	os.Chmod(e.path, 0o400) // a file system without modes has none to give
	now, err := stampOf(e.path)
	if err != nil {
		return fmt.Errorf("keep the input: %w", err)
	}
	e.note(now)
	return nil
}

// note keeps the stamp of a file whose digest is right. One that has changed
// since it was taken will not agree with it.
func (e *entry) note(s stamp) {
	e.c.change(func() {
		e.sound = s
		e.touch()
	})
}

// touch notes the last use where it outlasts the agent: in the file's mtime. A
// file that has changed is not touched, so that it still shows.
func (e *entry) touch() {
	e.used = time.Now()
	if now, err := stampOf(e.path); err != nil || now != e.sound {
		return
	}
	if os.Chtimes(e.path, e.used, e.used) == nil {
		e.sound, _ = stampOf(e.path)
	}
}

// link gives a run the file under a name of its own, to read. Where the file
// system knows no hard links it is the cache's own name, which is there for as
// long as the run holds it.
func (h *hold) link(path string) string {
	if err := os.Link(h.path, path); err != nil {
		h.c.log.Debug("the cached input is used in its place", "error", err)
		return h.path
	}
	return path
}

// release lets the bytes go, once: they may be removed now.
func (h *hold) release() {
	h.c.mu.Lock()
	defer h.c.mu.Unlock()
	if h.over {
		return
	}
	h.over = true
	if h.users--; h.users > 0 {
		return
	}
	h.touch()
	h.size = h.measured()
	if h.size == 0 {
		delete(h.c.entries, filepath.Base(h.path))
	}
	h.c.trim()
}

func (e *entry) files() []string { return []string{e.path, e.coming(), e.coming() + journalSuffix} }

func (e *entry) measured() (total int64) {
	for _, path := range e.files() {
		if info, err := os.Lstat(path); err == nil {
			total += onDisk(info)
		}
	}
	return total
}

func (e *entry) remove() error {
	var failed error
	for _, path := range e.files() {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}
