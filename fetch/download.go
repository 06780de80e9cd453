package fetch

import (
	"context"
	"errors"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
)

// download is the object as far as it has come. The object is cut into ranges;
// have says how much of each is in the file, from its start.
type download struct {
	o       Options
	file    *os.File
	journal journal
	source  source
	inOrder bool // the server knows no ranges: one request reads it all

	mu     sync.Mutex
	change sync.Cond // of what follows
	have   []int64
	taken  []bool
	kept   []bool // what the journal has, or will not be asked for
	keeps  bool   // the journal is kept just now
	front  int    // the first range that is not whole
	gained int64  // bytes that came, ever
	ended  bool   // nothing comes any more
}

// open takes up what is on the disk, or begins.
func open(o Options) (*download, error) {
	file, err := lockedFile(o.Path)
	if err != nil {
		return nil, err
	}
	n := int((o.Bytes + o.rangeBytes - 1) / o.rangeBytes)
	d := &download{o: o, file: file, have: make([]int64, n), kept: make([]bool, n)}
	d.change.L = &d.mu
	d.journal = journal{path: o.Path + ".ranges", header: header{o.Bytes, o.SHA256, o.rangeBytes}}
	if !d.resume() {
		err = d.anew()
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return d, nil
}

// resume counts what an earlier process has left. No journal beside a file of
// the right length is one that ended in the moment it was done, or a file of
// somebody's: the digest tells.
func (d *download) resume() bool {
	info, err := d.file.Stat()
	if err != nil || info.Size() != d.o.Bytes || d.o.SHA256 == "" {
		return false
	}
	held, err := d.journal.read(len(d.have))
	if err != nil {
		return false
	}
	var sum int64
	for _, i := range held {
		d.have[i], d.kept[i] = d.size(i), true
		sum += d.size(i)
	}
	if d.o.Resumed != nil && sum > 0 {
		d.o.Resumed(sum)
	}
	d.o.Progress(sum)
	return true
}

// anew begins with an empty file. The journal is first: a file without one
// counts as whole.
func (d *download) anew() error {
	if err := d.file.Truncate(0); err != nil {
		return diskError(err)
	}
	if err := d.journal.begin(); err != nil {
		return diskError(err)
	}
	if err := d.file.Truncate(d.o.Bytes); err != nil {
		return diskError(err)
	}
	var sum int64
	for i := range d.have {
		sum += d.have[i]
	}
	clear(d.have)
	clear(d.kept)
	d.front = 0
	d.o.Progress(-sum)
	return nil
}

// forget leaves nothing behind.
func (d *download) forget() error {
	return diskError(errors.Join(os.Remove(d.file.Name()), d.journal.remove()))
}

// whole fetches what is missing; meanwhile the digest is counted and the
// journal kept.
func (d *download) whole(ctx context.Context) error {
	d.begin()
	checking, stop := context.WithCancel(ctx)
	defer stop()
	var beside errgroup.Group
	beside.Go(func() error { return d.check(checking) })
	beside.Go(d.keep)
	fetching, ctx := errgroup.WithContext(ctx)
	for range d.workers() {
		fetching.Go(func() error { return d.work(ctx) })
	}
	err := fetching.Wait()
	if err != nil {
		stop() // there is nothing to compare
	}
	d.end()
	if other := beside.Wait(); err == nil {
		err = other
	}
	return err
}

// work fetches one span after another until none is left. The next one waits for
// the last one's place in the journal: a kill loses what is on its way, no more.
func (d *download) work(ctx context.Context) error {
	for {
		s, ok := d.claim()
		if !ok {
			return nil
		}
		if err := d.persist(ctx, &s); err != nil {
			return err
		}
		d.awaitKept()
	}
}

func (d *download) workers() int {
	if d.inOrder {
		return 1
	}
	return max(1, min(d.o.AtOnce, len(d.have)))
}

func (d *download) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken, d.ended, d.keeps = make([]bool, len(d.have)), false, d.o.SHA256 != ""
}

func (d *download) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.change.Broadcast()
}
