package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"rendermac/lasting"
)

// cacheName is the cache's folder in the work folder: the same file system, so
// that a hard link gives a run its input.
const cacheName = "rendermac-cache"

// cache keeps inputs by their SHA-256, so that jobs of one master fetch it once.
// Beside whole files lie those that are on their way; an interrupted fetch goes
// on from there, whoever wants the bytes next. Its bound holds for what no run
// uses: what one does is never removed, and goes when it is let go.
type cache struct {
	dir  string
	most int64
	log  *slog.Logger

	mu      sync.Mutex
	entries map[string]*entry // by digest
}

var cachedName = regexp.MustCompile(`^([0-9a-f]{64})($|\.)`)

// openCache takes over what an earlier agent has left, and no more of it than
// the bound allows.
func openCache(dir string, most int64, log *slog.Logger) (*cache, error) {
	c := &cache{dir: dir, most: most, log: log, entries: map[string]*entry{}}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look into the cache of inputs: %w", err)
	}
	for _, f := range found {
		name := cachedName.FindStringSubmatch(f.Name())
		info, err := f.Info()
		if name == nil || err != nil || !info.Mode().IsRegular() {
			continue // not ours
		}
		e := c.entry(name[1])
		e.size += onDisk(info)
		if info.ModTime().After(e.used) {
			e.used = info.ModTime()
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trim()
	return c, nil
}

// CacheBytes is how much of the disk the cache in a work folder takes.
func CacheBytes(workDir string) (int64, error) {
	var total int64
	found, err := os.ReadDir(filepath.Join(workDir, cacheName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range found {
		if info, err := f.Info(); err == nil {
			total += onDisk(info)
		}
	}
	return total, err
}

// onDisk is what a file takes: one on its way has its whole length from the
// start, but not its bytes.
func onDisk(info fs.FileInfo) int64 {
	if strings.HasSuffix(info.Name(), comingSuffix) {
		return min(info.Size(), int64(info.Sys().(*syscall.Stat_t).Blocks)*512)
	}
	return info.Size()
}

// entry is the one of a digest. Called under the lock, or before there are others.
func (c *cache) entry(digest string) *entry {
	e := c.entries[digest]
	if e == nil {
		e = &entry{c: c, path: filepath.Join(c.dir, digest), turn: make(chan struct{}, 1), shown: map[*hold]func(int64){}}
		c.entries[digest] = e
	}
	return e
}

// hold keeps a digest's bytes, as far as they are here, until they are let go.
// Others go for them where the bound asks for it. missing is how much more of
// the disk they will take.
func (c *cache) hold(digest string, bytes int64) (h *hold, missing int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entry(digest)
	if e.users++; e.users == 1 {
		missing = max(0, bytes-e.size)
		e.size = max(bytes, e.size)
	}
	c.trim()
	return &hold{entry: e}, missing
}

// trim keeps to the bound. What is larger than all of it does not push out the
// others, for it cannot stay. Called under the lock.
func (c *cache) trim() {
	var total int64
	for _, e := range c.entries {
		if e.size <= c.most {
			total += e.size
		}
	}
	for _, e := range c.unused() {
		if e.size > c.most {
			c.evict(e)
		} else if total > c.most {
			total -= e.size
			c.evict(e)
		}
	}
}

// giveWay removes what no run uses, one at least, until the disk lacks no more
// bytes, and says whether it removed anything. Where all of it would not be
// enough it stays.
func (c *cache) giveWay(lacking func() int64) (gave bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	unused := c.unused()
	var all int64
	for _, e := range unused {
		all += e.size
	}
	for lack := lacking(); lack <= all && len(unused) > 0 && (lack > 0 || !gave); lack = lacking() {
		c.evict(unused[0])
		all -= unused[0].size
		unused, gave = unused[1:], true
	}
	return gave
}

// unused are the entries that may go, least recently used first.
func (c *cache) unused() []*entry {
	free := slices.DeleteFunc(slices.Collect(maps.Values(c.entries)), func(e *entry) bool { return e.users > 0 })
	slices.SortFunc(free, func(a, b *entry) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	return free
}

func (c *cache) evict(e *entry) {
	delete(c.entries, filepath.Base(e.path))
	if err := e.remove(); err != nil {
		c.log.Error("cached input not removed", "path", e.path, "error", err)
		return
	}
	c.log.Info("cached input removed", "path", e.path, "bytes", e.size, "last_used", e.used.Format(time.DateTime))
}

func (c *cache) makeFolder() error {
	if err := lasting.MakeFolder(c.dir); err != nil {
		return diskFailure(fmt.Errorf("make the cache of inputs: %w", err))
	}
	return nil
}
