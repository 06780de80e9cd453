package artifact

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"rendermac/failpoint"
)

const (
	stall    = 30 * time.Second // without a byte, after which a body counts as cut off
	patience = 30 * time.Second // for another writer of the same part
)

// Put serves a PUT to a part's URL: nil means that the part is held, safe from
// a crash. A *Refusal is the client's to hear, any other error the store's own.
// What refuses does so before the body is asked for.
func (d *Dir) Put(w http.ResponseWriter, r *http.Request) error {
	key, q, err := d.verify(http.MethodPut, r.URL)
	if err != nil {
		return err
	}
	p, grant, err := signedPart(q)
	if err != nil {
		return err
	}
	if err := d.ready(); err != nil {
		return refusal(err)
	}
	open := d.find(key)
	if open == nil {
		return errEnded
	}
	b := &body{Reader: r.Body, conn: http.NewResponseController(w)}
	err = open.put(r.Context(), b, p, grant, r.ContentLength)
	if errors.Is(err, fs.ErrNotExist) {
		err = d.lost(r.Context(), open)
	}
	err = refusal(err)
	if b.stopped { // so the connection is over: its next request would find its context ended
		w.Header().Set("Connection", "close")
	}
	return err
}

// lost is for a write whose data somebody has removed: nothing of it is held.
func (d *Dir) lost(ctx context.Context, w *write) error {
	unlock, err := d.lock(ctx, w.key)
	if err != nil {
		return err
	}
	defer unlock()
	if d.find(w.key) == w {
		w.freeze(everyPart)
		err = w.anew()
		w.thaw(false)
	}
	return cmp.Or(told(d.root, err, 0), error(errEnded))
}

// put is the life of one writer: let in, copy, sync, hold.
func (w *write) put(ctx context.Context, b *body, p Part, grant string, length int64) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	waiting, enough := context.WithTimeout(ctx, patience)
	defer enough()
	in := &writer{stop: stop, done: make(chan struct{})}
	if err := w.admit(waiting, in, p, grant, length); err != nil {
		return err
	}
	defer b.stoppedBy(ctx)()
	sum, err := w.receive(b, p)
	if err == nil && p.SHA256 != "" && p.SHA256 != sum {
		err = errDigest
	}
	p.SHA256 = sum
	return told(w.root, w.leave(in, p, err), w.missing())
}

// receive copies a part to its place in the file and syncs it.
func (w *write) receive(b *body, p Part) (sum string, err error) {
	f, err := w.root.OpenFile(w.dataName(), os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	failpoint.At("artifact.part.write.before")
	n, sum, err := stream(io.NewOffsetWriter(f, w.offset(p.Number)), io.LimitReader(b, p.Bytes))
	if err != nil {
		return "", err
	}
	if n < p.Bytes {
		return "", wrongLength(p)
	}
	if err := b.atEnd(p); err != nil {
		return "", err
	}
	failpoint.At("artifact.part.sync.before")
	err = f.Sync()
	failpoint.At("artifact.part.sync.after")
	return sum, err
}

// body is a request's body that gives up when nothing comes, and at once when
// its writer is stopped.
type body struct {
	io.Reader
	conn    *http.ResponseController
	ctx     context.Context
	stopped bool // once released: the connection's deadline has passed
}

// stoppedBy makes the end of ctx wake a Read that waits for the network, until
// release; after that the connection is the next request's.
func (b *body) stoppedBy(ctx context.Context) (release func()) {
	b.ctx = ctx
	woken := make(chan struct{})
	forget := context.AfterFunc(ctx, func() {
		defer close(woken)
		_ = b.conn.SetReadDeadline(time.Unix(1, 0))
	})
	return func() {
		if b.stopped = !forget(); b.stopped {
			<-woken
		}
	}
}

// Read looks at ctx after it has set the deadline: one of the two then sees a
// stop that comes in between.
func (b *body) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(stall)) // a connection without deadlines only waits longer
	if b.ctx.Err() != nil {
		return 0, b.why()
	}
	n, err := b.Reader.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, b.why()
}

// why no more can be read: the writer was stopped, or the client is gone.
func (b *body) why() error {
	if cause := context.Cause(b.ctx); cause == error(errEnded) {
		return cause
	}
	return errBroken
}

// atEnd reads on where the part's body should end. The deadline must not stay
// behind: it would end the request while the disk is still syncing.
func (b *body) atEnd(p Part) error {
	n, err := io.ReadFull(b, make([]byte, 1))
	switch {
	case n != 0:
		return wrongLength(p)
	case !errors.Is(err, io.EOF): // the writer was stopped, or the client is gone
		return err
	}
	_ = b.conn.SetReadDeadline(time.Time{})
	return nil
}
