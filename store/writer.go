package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"rendermac/fence"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxBatch bounds how many closures share one COMMIT. What has queued up while
// the last one was syncing is the batch: nobody waits to fill it.
const maxBatch = 256

// writer is the one goroutine that writes. It runs the closures it is handed
// inside one BEGIN IMMEDIATE, each in a savepoint of its own, commits once, and
// only then answers.
type writer struct {
	tx     *tx
	in     chan *request
	limit  int
	quit   chan struct{}
	done   chan struct{}
	broken chan struct{}
	log    *slog.Logger

	unsettled chan struct{}
	outbox    chan struct{}
	appended  chan struct{}
	once      sync.Once

	wall time.Time // F15: both clocks at the start of the batch that committed last
	mono time.Duration
}

type request struct {
	fn    func(*tx) error
	asked time.Duration // when it got in line
	taken atomic.Bool   // by the writer, or by a caller that withdraws
	err   error
	done  chan struct{}
}

func startWriter(c *conn, o Options) *writer {
	w := &writer{
		tx: newTx(c, o), in: make(chan *request, maxBatch), limit: maxBatch,
		quit: make(chan struct{}), done: make(chan struct{}), broken: make(chan struct{}), log: o.Log,
		unsettled: make(chan struct{}, 1), outbox: make(chan struct{}, 1), appended: make(chan struct{}, 1),
		wall: o.Now(), mono: o.Mono(),
	}
	go w.loop()
	return w
}

// do runs fn in the next batch. A context that ends while fn still waits in
// line withdraws it; once it runs, its COMMIT is waited for.
func (w *writer) do(ctx context.Context, fn func(*tx) error) error {
	r := &request{fn: fn, asked: w.tx.o.Mono(), done: make(chan struct{})}
	select {
	case w.in <- r:
	case <-w.quit:
		return unavailable(errors.New("the server is stopping"))
	case <-ctx.Done():
		return unavailable(ctx.Err())
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		if r.taken.CompareAndSwap(false, true) {
			return unavailable(ctx.Err())
		}
	case <-w.done: // stopped with r still in line
		if r.taken.CompareAndSwap(false, true) {
			return unavailable(errors.New("the server is stopping"))
		}
	}
	<-r.done
	return r.err
}

func (w *writer) stop() error {
	w.once.Do(func() { close(w.quit) })
	<-w.done
	return w.tx.conn.close()
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case r := <-w.in:
			w.batch(w.gather(r))
		case <-w.quit:
			for len(w.in) > 0 {
				w.batch(w.gather(<-w.in))
			}
			w.tx.closeStatements()
			return
		}
	}
}

func (w *writer) gather(first *request) []*request {
	batch := make([]*request, 0, len(w.in)+1)
	for r := first; ; r = <-w.in {
		if r.taken.CompareAndSwap(false, true) {
			batch = append(batch, r)
		}
		if len(batch) >= w.limit || len(w.in) == 0 {
			return batch
		}
	}
}

// batch runs, commits and answers. If the transaction itself is lost, every
// caller of the batch is told, whatever its own closure said.
func (w *writer) batch(batch []*request) {
	began := w.tx.o.Mono()
	err := w.run(batch)
	for _, r := range batch {
		if err != nil {
			r.err = err
		}
		close(r.done)
	}
	w.observe(batch, began, err)
}

func (w *writer) run(batch []*request) error {
	if len(batch) == 0 {
		return nil
	}
	wall, mono := w.tx.o.Now(), w.tx.o.Mono()
	w.tx.wall, w.tx.mono = wall.Round(0), mono
	err := w.tx.begin()
	if err == nil {
		err = w.lookAtClocks(wall, mono)
	}
	for _, r := range batch {
		if err != nil {
			break
		}
		r.err, err = w.tx.savepoint(r.fn)
	}
	if err == nil {
		err = w.tx.commit()
	}
	if err != nil {
		w.tx.rollback()
		return w.lost(err)
	}
	w.wall, w.mono = wall, mono // not before: a jump that a lost batch saw is still to be made up for
	if w.tx.more {
		say(w.unsettled)
	}
	if w.tx.outbox {
		say(w.outbox)
	}
	if w.tx.appended {
		say(w.appended)
	}
	return nil
}

// say wakes whoever listens, once he does.
func say(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default: // said already
	}
}

// lost turns what broke a batch into what its callers are told, and stops the
// store where its file cannot be trusted any more.
func (w *writer) lost(err error) error {
	w.log.Error("batch lost", "err", err)
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return unavailable(err)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return &fence.Error{Code: CodeStorageFull, Message: "the disk that holds the database is full: free some space, then try again"}
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		select {
		case <-w.broken:
		default:
			close(w.broken)
		}
	}
	return unavailable(err)
}
