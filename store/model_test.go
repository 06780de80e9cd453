package store_test

import (
	"fmt"
	"testing"
	"time"

	"rendermac/fence/fencetest"

	"pgregory.net/rapid"
)

// The same random histories run against the model and against the real store;
// after every step all rows equal the model's state. A failure prints a seed and
// the shortest history found: replay it with
//
//	go test ./store -run 'TestModel_HistoriesOnTheRealStore' -rapid.seed=N
//
// RENDERMAC_SOAK=1 runs 100,000 of them.
func TestModel_HistoriesOnTheRealStore(t *testing.T) {
	h, seen := newHome(t), &sightings{n: map[string]int{}}
	start := time.Now()
	n := fencetest.Histories(t, func(rt *rapid.T) {
		w := newTwin(rt, h, seen, rapid.IntRange(0, 9).Draw(rt, "resume, but for 9") < 9)
		for range 60 {
			s := drawStep.Draw(rt, "step")
			told := len(w.model.History)
			if s.Event == "next" {
				s.Event = w.next(s)
			}
			events[s.Event](w, s)
			w.clockSet = s.Event == "set" || w.clockSet && !writes[s.Event]
			if err := w.model.Check(); err != nil {
				rt.Fatalf("%v", err)
			}
			w.compare()
			for _, e := range w.model.History[told:] {
				seen.add(fmt.Sprint("event ", e.Type, map[bool]string{true: " " + e.Code}[e.Code != ""]))
			}
		}
		seen.add("history")
	})
	t.Logf("%d histories of 60 steps, %s each", n, (time.Since(start) / time.Duration(n)).Round(10*time.Microsecond))
	if seen.n["history"] < n { // rapid ends early, and passes, where the test's deadline comes near
		t.Fatalf("only %d of %d histories ran: give the test more time with -timeout", seen.n["history"], n)
	}
	seen.check(t)
}
