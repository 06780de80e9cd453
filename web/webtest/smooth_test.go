package webtest

import (
	"fmt"
	"testing"
	"time"

	"rendermac/api"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
)

// nodes is how many the tab holds, in the page and beside it, once what nobody
// holds is gone.
func nodes(p *Page) int64 {
	call(p, "collect garbage", heapprofiler.CollectGarbage, struct{}{})
	return call(p, "count nodes", memory.GetDOMCounters, struct{}{}).Nodes
}

// counting is told to the page: its frames, what holds them up, the progress that
// arrives and how often the page is fetched anew.
const counting = `(() => {
	performance.setResourceTimingBufferSize(10000);
	performance.clearResourceTimings();
	window.counted = {frames: 0, progress: 0, longest: 0, begun: performance.now()};
	const frame = () => { counted.frames++; requestAnimationFrame(frame) };
	requestAnimationFrame(frame);
	new PerformanceObserver(list => { for (const task of list.getEntries()) counted.longest = Math.max(counted.longest, task.duration) }).observe({type: "longtask"});
	document.addEventListener("rendermac", e => { if (e.detail.type === "progress") counted.progress++ });
})()`

const counts = `({frames: counted.frames, progress: counted.progress, longest: counted.longest, seconds: (performance.now() - counted.begun) / 1000,
	fetches: performance.getEntriesByType("resource").filter(e => e.name === location.href).length})`

// Ten Macs tell of their runs twenty times a second each, all that the server
// passes on, while jobs are submitted: the bars keep up, the page is fetched anew
// once a second and no more, and nothing is left behind in it.
func TestSmooth_TwoThousandProgressEvents(t *testing.T) {
	s := mustStudio(t)
	upload, err := s.client.Upload(t.Context(), s.film("reel.mov", 0.2, "64x64"), func(int64) {})
	must(t, err)
	submit := func(n int) {
		for range n {
			_, err := s.client.Submit(t.Context(), api.JobRequest{Service: "ffmpeg.transcode", Params: []byte(`{"preset":"web-480p"}`), Inputs: []api.Input{{UploadID: &upload.ID}}})
			must(t, err)
		}
	}
	submit(20)
	var macs []*mac
	for n := range 10 {
		macs = append(macs, s.connect(s.pair(fmt.Sprintf("mini-%02d", n+1)), 1))
	}
	tell := func(fraction float64) {
		for _, m := range macs {
			m.progress(fraction, 100*(1+fraction), 100*(1-fraction))
		}
	}
	p := s.open("/", Size(2560, 1440))
	p.WaitText("live")
	tell(0)
	all := func(what, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll("#now [data-says=%s]")].filter(e => e.textContent === %s).length === 10`, what, js(text))
	}
	p.Until(all("speed", "100 fps"))
	p.Eval(`fetches = 0, document.addEventListener("refreshed", () => fetches++), 0`, nil)
	submit(1)
	p.Until("fetches > 0")
	elements, before := p.Count("*"), nodes(p)

	p.Eval(counting, nil)
	pace := time.NewTicker(50 * time.Millisecond)
	defer pace.Stop()
	var got struct{ Frames, Progress, Longest, Seconds, Fetches float64 }
	waiting := 11 // ten of the first twenty jobs run
	for got.Progress < 2000 {
		for n := range 20 {
			tell(float64(n) / 20)
			<-pace.C
		}
		submit(1) // an event beside the progress
		waiting++
		p.Eval(counts, &got)
	}
	tell(0.9)
	p.Until(all("speed", "190 fps"))
	p.Until(all("left", "10 s left"))
	p.Until(`[...document.querySelectorAll("#now .done")].filter(e => e.getAttribute("width") === "78").length === 10`)
	p.WaitText(fmt.Sprintf("%d jobs queued", waiting))
	p.Eval(counts, &got)
	t.Logf("%.0f progress events in %.1f s: %.0f frames a second, the longest task %.0f ms, the page fetched %.0f times",
		got.Progress, got.Seconds, got.Frames/got.Seconds, got.Longest, got.Fetches)
	if got.Fetches > got.Seconds+1 {
		t.Errorf("the page was fetched %.0f times in %.1f s", got.Fetches, got.Seconds)
	}
	if after := p.Count("*"); after != elements {
		t.Errorf("the page had %d elements, and has %d", elements, after)
	}
	after := nodes(p)
	t.Logf("%d nodes, and %d at the end", before, after)
	if after > before {
		t.Errorf("the tab held %d nodes, and holds %d", before, after)
	}
}
