package server

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rendermac/failpoint"
	"rendermac/fence"
	"rendermac/roots"
)

// reader reads the inputs by path of queued jobs, which nobody can lease before.
// Each shared root has a worker of its own: one whose volume is slow, or away,
// holds up no other.
type reader struct {
	srv     *Server
	mu      sync.Mutex
	lanes   map[string]*lane              // by root; "" for those that are not configured any more
	running map[string]context.CancelFunc // by job
	tries   map[string]readTries
}

type lane struct {
	waiting []waitingJob
	some    chan struct{}
}

type waitingJob struct{ id, path string }

// readTries counts what did not work out: the volume away, the file changing.
type readTries struct{ away, changing int }

const (
	// maxChanging is how often a file that changes is read, a little longer apart
	// each time: a file that is still being copied is not ready to be submitted.
	maxChanging = 6
	maxAway     = time.Minute // between looks for a volume that is away
)

var errChanging = errors.New("it was changed while it was read")

func newReader(s *Server) *reader {
	r := &reader{srv: s, lanes: map[string]*lane{}, running: map[string]context.CancelFunc{}, tries: map[string]readTries{}}
	r.lanes[""] = &lane{some: make(chan struct{}, 1)}
	for name := range s.roots {
		r.lanes[name] = &lane{some: make(chan struct{}, 1)}
	}
	return r
}

// takeUp queues what an earlier run of the server has not read.
func (r *reader) takeUp(ctx context.Context) error {
	paths, err := r.srv.o.DB.Reading(ctx)
	for id, path := range paths {
		r.add(id, path)
	}
	return err
}

// add queues a job by the first of its paths.
func (r *reader) add(id, path string) {
	root, _, _ := roots.Split(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lanes[root]
	if l == nil {
		l = r.lanes[""]
	}
	l.waiting = append(l.waiting, waitingJob{id, path})
	l.signal()
}

func (l *lane) signal() {
	select {
	case l.some <- struct{}{}:
	default:
	}
}

// drop ends the reading for a job that has ended.
func (r *reader) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel, running := r.running[id]; running {
		cancel()
	}
}

func (r *reader) loop(ctx context.Context) {
	var workers sync.WaitGroup
	for _, l := range r.lanes {
		workers.Go(func() { r.work(ctx, l) })
	}
	workers.Wait()
}

func (r *reader) work(ctx context.Context, l *lane) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.some:
		}
		for ctx.Err() == nil && r.next(ctx, l) {
		}
	}
}

// next reads for the first that waits; false is that none does.
func (r *reader) next(ctx context.Context, l *lane) bool {
	r.mu.Lock()
	if len(l.waiting) == 0 {
		r.mu.Unlock()
		return false
	}
	job := l.waiting[0]
	l.waiting = l.waiting[1:]
	reading, cancel := context.WithCancel(ctx)
	r.running[job.id] = cancel
	r.mu.Unlock()
	defer cancel()
	err := r.runOnce(reading, job.id)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.running, job.id)
	if err == nil || reading.Err() != nil { // dropped, or the server's end: the next start takes it up
		delete(r.tries, job.id)
		return true
	}
	wait := r.putOff(job.id, err)
	r.srv.o.Log.Warn("reading put off", "job", job.id, "wait", wait, "err", err)
	time.AfterFunc(wait, func() { r.add(job.id, job.path) })
	return true
}

// putOff is how long to wait after a try that did not work out.
func (r *reader) putOff(id string, err error) time.Duration {
	t := r.tries[id]
	defer func() { r.tries[id] = t }()
	if errors.Is(err, errChanging) {
		t.changing++
		return fence.Backoff(time.Second, t.changing)
	}
	t.away++
	return min(fence.Backoff(time.Second, t.away), maxAway)
}

// runOnce reads all inputs by path of a job and lets it be leased, or ends it
// where one of them is not to be had. An error means to try again.
func (r *reader) runOnce(ctx context.Context, id string) error {
	db := r.srv.o.DB
	job, err := db.UnreadJob(ctx, id)
	if err != nil || job == nil {
		return err
	}
	files, err := r.srv.readInputs(ctx, job)
	var fault *roots.Fault
	switch {
	case errors.As(err, &fault):
	case errors.Is(err, errChanging) && r.changed(id) >= maxChanging-1:
		fault = &roots.Fault{Message: fmt.Sprintf("%s, %d times: submit it again once it is complete", err, maxChanging)}
	case err != nil:
		return err
	}
	if fault != nil {
		done, err := db.FailReading(ctx, id, fault.Message)
		if done {
			r.srv.o.Log.Info("job failed", "job", id, "code", fence.InputFailed, "message", fault.Message)
		}
		return err
	}
	failpoint.At("server.read.after")
	done, err := db.Read(ctx, job, files, needsOf(job, files))
	if done {
		r.srv.o.Log.Info("inputs read", "job", id)
		r.srv.matcher.wake()
	}
	return err
}

func (r *reader) changed(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tries[id].changing
}
