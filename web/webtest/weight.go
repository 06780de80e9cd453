package webtest

import (
	"sync"
	"time"

	"github.com/chromedp/cdproto/network"
)

// weight counts what came over the network since a page's last load.
type weight struct {
	mu    sync.Mutex
	bytes float64
}

func (w *weight) hear(event any) {
	if e, ok := event.(*network.EventLoadingFinished); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.bytes += e.EncodedDataLength
	}
}

func (w *weight) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bytes = 0
}

// Weight is how many bytes came over the network, headers and all, since the
// last Go or Reload: of what has arrived whole, so a stream is not in it.
func (p *Page) Weight() int {
	p.Eval("0", nil) // what happened before has been heard then
	p.weight.mu.Lock()
	defer p.weight.mu.Unlock()
	return int(p.weight.bytes)
}

// Answered is the time from the start of the load to the server's first byte.
func (p *Page) Answered() time.Duration {
	p.t.Helper()
	var ms float64
	p.Eval(`performance.getEntriesByType("navigation")[0].responseStart`, &ms)
	return time.Duration(ms * float64(time.Millisecond))
}

// FirstPaint is the time from the start of the load to the first thing shown.
func (p *Page) FirstPaint() time.Duration {
	p.t.Helper()
	var ms float64
	p.await("wait for the first paint",
		`(e => e ? {found: e.startTime} : {why: "nothing was painted"})(performance.getEntriesByName("first-paint")[0])`, &ms)
	return time.Duration(ms * float64(time.Millisecond))
}
