package webtest

import (
	"fmt"
	"testing"
	"time"

	"rendermac/api"
	"rendermac/store/storetest"
)

// mustFull is a studio with ten thousand jobs of the last day behind it, and
// twelve Macs that run two each.
func mustFull(t *testing.T) (s *studio, macs []*mac) {
	t.Helper()
	s = mustStudio(t)
	var devices []*api.PairAnswer
	for n := range 12 {
		devices = append(devices, s.pair(fmt.Sprintf("mini-%02d", n+1)))
	}
	s.kill()
	storetest.MustHistory(t, s.data("rendermac.db"), time.Now(), 10_000)
	s.start()
	for _, device := range devices {
		m := s.connect(device, 2)
		m.progress(0.4, 118, 95)
		macs = append(macs, m)
	}
	return s, macs
}

// coldLoads is how often each page is opened, in a profile of its own: the best of
// them is the page's, and the rest is the machine's.
const coldLoads = 2

// Whoever comes for the first time waits for little, however much the server has
// to tell: the times are printed, for they are the machine's as well.
func TestPaint_EveryPageIsLightWithTenThousandJobs(t *testing.T) {
	s, macs := mustFull(t)
	blank := time.Hour
	for range coldLoads {
		t.Run("blank", func(t *testing.T) { blank = min(blank, Open(t, serve(t, "", nil)).FirstPaint()) })
	}
	t.Logf("a page with one word: first paint after %d ms", blank.Milliseconds())
	for _, path := range []string{"/", "/jobs", "/jobs?status=failed", "/jobs/" + macs[0].runs[0].JobID, "/new", "/devices", "/settings"} {
		answered, painted, weight := time.Hour, time.Hour, 0
		for range coldLoads {
			t.Run(path, func(t *testing.T) { // closes the page, which would go on following the Macs beside the next one
				alone := *s
				alone.TB = t
				p := alone.open(path)
				p.Expect(`/inputs/1 answered 404`) // these jobs were made without files
				p.WaitText("live")
				p.WaitFor("main h1")
				answered, painted, weight = min(answered, p.Answered()), min(painted, p.FirstPaint()), max(weight, p.Weight())
			})
		}
		t.Logf("%s: %d kB, answered after %d ms, first paint after %d ms, %.1f times that of one word", path, weight/1000, answered.Milliseconds(), painted.Milliseconds(), float64(painted)/float64(blank))
		if weight >= 150_000 {
			t.Errorf("%s weighs %d bytes", path, weight)
		}
	}
}
