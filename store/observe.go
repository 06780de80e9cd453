package store

import "time"

// Batch is what the writer says of a batch once its callers have their answers.
type Batch struct {
	Closures int
	Waited   time.Duration // by the one that stood first in line
	Took     time.Duration // from BEGIN to COMMIT
	Lost     bool
}

// observe is called by the writer itself: what hears it must be quick.
func (w *writer) observe(batch []*request, began time.Duration, err error) {
	if w.tx.o.Observe == nil || len(batch) == 0 {
		return
	}
	waited := began - batch[0].asked
	w.tx.o.Observe(Batch{Closures: len(batch), Waited: max(0, waited), Took: w.tx.o.Mono() - began, Lost: err != nil})
}
