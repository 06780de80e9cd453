package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"rendermac/store"
)

const (
	feedKept  = 1024        // a stream that is further behind reads the database
	feedRetry = time.Second // after a read that failed
	feedStall = 10 * time.Second
)

// feed reads what has been committed, once for all streams, and wakes those it
// concerns. It may be behind the database, never ahead of it.
type feed struct {
	srv    *Server
	kept   int           // events in memory
	stall  time.Duration // how long a reader may take nothing
	woken  chan struct{}
	closed chan struct{}
	once   sync.Once

	replays chan struct{} // one in it for each stream that reads the database

	mu       sync.Mutex
	streams  map[*stream]struct{}
	from, to int64
	recent   []notice // every event with from < id <= to
	fresh    []notice // progress that came after the last look at the database
	runs     []notice // the newest progress of each run
	numbered int64    // progress so far
}

// notice is an event as it goes over the wire.
type notice struct {
	id, number            int64 // of a stored event, of a progress
	account, job, attempt string
	over, ends            bool          // its attempt reports no more; its job has ended
	at                    time.Duration // of a progress
	text                  []byte
}

func newFeed(s *Server) *feed {
	return &feed{srv: s, kept: feedKept, stall: feedStall, woken: make(chan struct{}, 1), closed: make(chan struct{}), streams: map[*stream]struct{}{}, replays: make(chan struct{}, replays)}
}

func (f *feed) loop(ctx context.Context) {
	for {
		var retry <-chan time.Time
		if err := f.runOnce(ctx); err != nil && ctx.Err() == nil {
			f.srv.o.Log.Warn("could not read the newest events: trying again", "err", err)
			retry = time.After(feedRetry)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.srv.o.DB.Appended():
		case <-f.woken:
		case <-retry:
		}
	}
}

// poke wakes a loop that waits for a signal of one place.
func poke(signal chan struct{}) {
	select {
	case signal <- struct{}{}:
	default: // it is to look again already, and will see this change too
	}
}

// close ends every stream; their clients come back with Last-Event-ID.
func (f *feed) close() { f.once.Do(func() { close(f.closed) }) }

func (f *feed) isClosed() bool {
	select {
	case <-f.closed:
		return true
	default:
		return false
	}
}

// join lets a stream be woken; leave ends that.
func (f *feed) join(s *stream) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams[s] = struct{}{}
	poke(f.woken)
	poke(s.woken) // for what is known already
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.streams, s)
	}
}

// doubt has every stream look whether it is still allowed.
func (f *feed) doubt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		poke(s.doubted)
	}
}

// report takes in how far a run is.
func (f *feed) report(n notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh = replace(f.fresh, n, n.at-f.srv.o.LeaseTTL)
	poke(f.woken)
}

// replace puts a progress in the place of its run's last, and forgets those that
// are older than since.
func replace(list []notice, n notice, since time.Duration) []notice {
	list = slices.DeleteFunc(list, func(p notice) bool { return p.attempt == n.attempt || p.at < since })
	return append(list, n)
}

// runOnce takes the progress first and reads the database then: no progress
// overtakes an event that was committed before it. Where nobody listens nothing
// is read.
func (f *feed) runOnce(ctx context.Context) error {
	f.mu.Lock()
	fresh, before, heard := f.fresh, f.to, len(f.streams) > 0
	f.fresh = nil
	f.mu.Unlock()
	var events []store.Event
	var err error
	upTo := before
	if heard {
		events, upTo, err = f.srv.o.DB.EventsAfter(ctx, store.EventFilter{}, before, f.kept)
	}
	far := len(events) == f.kept // nobody has listened for long: who does now reads for himself
	if far && err == nil {
		_, upTo, err = f.srv.o.DB.EventIDs(ctx)
	}
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if far {
		events, f.recent, f.runs, f.from = nil, nil, nil, upTo
	}
	f.to = upTo
	for _, e := range events {
		fresh = f.add(noticeOf(e), fresh)
	}
	for _, p := range fresh {
		f.place(p)
	}
	for s := range f.streams {
		if far || s.last > before { // it was ahead, and may have waited for us
			poke(s.woken)
		}
	}
	return nil
}

// add takes in a stored event, and gives back what its run has not made stale.
func (f *feed) add(n notice, fresh []notice) []notice {
	if len(f.recent) == f.kept {
		f.from = f.recent[0].id
		f.recent = f.recent[1:]
	}
	f.recent = append(f.recent, n)
	f.tell(n)
	if !n.over {
		return fresh
	}
	stale := func(p notice) bool { return p.attempt == n.attempt }
	f.runs = slices.DeleteFunc(f.runs, stale)
	return slices.DeleteFunc(fresh, stale)
}

// place puts a progress behind the events that came before it. A run that has
// not reported for a lease is over.
func (f *feed) place(n notice) {
	f.numbered++
	n.number = f.numbered
	f.runs = replace(f.runs, n, n.at-f.srv.o.LeaseTTL)
	f.tell(n)
}

func (f *feed) tell(n notice) {
	for s := range f.streams {
		if s.wants(n) {
			poke(s.woken)
		}
	}
}

// take hands over what is new to a stream, the stored events first. One that is
// behind has to read the database before.
func (f *feed) take(s *stream) (news []notice, behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.last < f.from {
		return nil, true
	}
	if s.last > f.to { // ahead: nothing here is new to it
		return nil, false
	}
	for _, n := range f.recent {
		if n.id > s.last && s.wants(n) {
			news = append(news, n)
		}
	}
	s.last = f.to
	for _, n := range f.runs {
		if n.number > s.seen && s.wants(n) {
			news = append(news, n)
		}
	}
	s.seen = f.numbered
	return news, false
}

// reach notes that a stream has read the database up to an id.
func (f *feed) reach(s *stream, id int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.last = max(s.last, id)
}
