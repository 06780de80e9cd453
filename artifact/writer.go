package artifact

import (
	"context"
	"fmt"
	"os"

	"rendermac/failpoint"
)

// writer is one request that writes a part.
type writer struct {
	stop context.CancelCauseFunc
	done chan struct{}
}

// grant names what a part's URL may write to. The caller holds mu.
func (w *write) grant(n int) string { return fmt.Sprintf("%s.%d", w.id, w.drops[n]) }

// admit lets one writer at a time to a part. It waits for one that is there
// already: when that one has ended the part is held, or free for the next.
func (w *write) admit(ctx context.Context, in *writer, p Part, grant string, length int64) error {
	for {
		wait, err := w.enter(in, p, grant, length)
		if wait == nil || err != nil {
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return errPartBusy
		}
	}
}

// enter is one try of admit: in, refused, or what to wait for. length is the
// body's where it is known beforehand, else -1.
func (w *write) enter(in *writer, p Part, grant string, length int64) (wait <-chan struct{}, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, held := w.held[p.Number]
	switch {
	case w.gone:
		return nil, errEnded
	case w.frozen != nil:
		return w.frozen, nil
	case grant != w.grant(p.Number) || p.Bytes != w.length(p.Number):
		return nil, errEnded
	case held:
		return nil, errPartHeld
	case length >= 0 && length != p.Bytes:
		return nil, wrongLength(p)
	}
	if other := w.writers[p.Number]; other != nil {
		return other.done, nil
	}
	w.writers[p.Number] = in
	return nil, nil
}

// leave ends a writer, whose file is closed. A part that came whole is held
// from here on; of any other the space is given back.
func (w *write) leave(in *writer, p Part, failed error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if failed == nil {
		failed = w.record(entry{Held: &p})
	}
	if failed != nil {
		failpoint.At("artifact.part.discard.before")
		w.discard(p.Number)
	}
	delete(w.writers, p.Number)
	close(in.done)
	return failed
}

// discard frees the space of a part that did not come whole. Nothing depends on
// it but the room left on the disk. The caller holds mu.
func (w *write) discard(n int) {
	f, err := w.root.OpenFile(w.dataName(), os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	last := true
	for other := range w.held {
		last = last && other < n
	}
	for other := range w.writers {
		last = last && other <= n
	}
	if last {
		_ = f.Truncate(w.offset(n))
		return
	}
	_ = punchHole(f, w.offset(n), w.length(n))
}

// freeze lets no writer in, stops those whose part is concerned and waits until
// they have ended. The verbs of one key follow one another (Dir.lock), so there
// is only ever one freeze.
func (w *write) freeze(concerned func(n int) bool) {
	w.mu.Lock()
	w.frozen = make(chan struct{})
	var stopped []*writer
	for n, in := range w.writers {
		if concerned(n) {
			in.stop(errEnded)
			stopped = append(stopped, in)
		}
	}
	w.mu.Unlock()
	for _, in := range stopped {
		<-in.done
	}
}

func everyPart(int) bool { return true }

// thaw ends a freeze; if the write is gone, so are all who waited.
func (w *write) thaw(gone bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = gone
	close(w.frozen)
	w.frozen = nil
}
