package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"rendermac/web"
	"rendermac/web/webtest"
)

// What a module says of sizes and times is what a template would say.
func TestWords_AreTheSameInTheBrowser(t *testing.T) {
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	page := webtest.Open(t, s.URL+"/stories/fault/not-found")
	numbers := []float64{0, 0.4, 0.7, 1, 1.4, 2, 59, 59.6, 60, 61, 75, 599, 999, 3599, 3600, 3725, 9_949, 86_399, 86_400, 90_061, 999_499, 999_500, 1_000_000, 9_940_000, 9_960_000, 1e9, 999.6e9, 5e12, 7e15}
	var said, want [][]string
	for _, n := range numbers {
		want = append(want, []string{web.Bytes(int64(n)), web.Duration(time.Duration(min(n, 1e9) * float64(time.Second))), web.Seconds(n), web.Count(int(n))})
	}
	list, err := json.Marshal(numbers)
	if err != nil {
		t.Fatal(err)
	}
	page.Eval(fmt.Sprintf(`import("/assets/js/words.js").then(({bytes, duration, clock, count}) => %s.map(n =>
		[bytes(Math.floor(n)), duration(Math.min(n, 1e9)), clock(n), count(Math.floor(n), "", "").trim()]))`, list), &said)
	for i, n := range numbers {
		if fmt.Sprint(said[i]) != fmt.Sprint(want[i]) {
			t.Errorf("%g is said %q in the browser, and %q by the server", n, said[i], want[i])
		}
	}
}

// What came of an act on several jobs is said of one job as of one.
func TestOutcome_IsSaidAsPeopleDo(t *testing.T) {
	s := httptest.NewServer(handler())
	t.Cleanup(s.Close)
	page := webtest.Open(t, s.URL+"/stories/fault/not-found")
	for result, want := range map[string]string{
		"{done: 1, all: 1, open: 0}": "1 job cancelled.",
		"{done: 2, all: 3, open: 0}": "2 of 3 jobs cancelled.",
		"{done: 0, all: 1, open: 0}": "The job was not cancelled.",
		"{done: 0, all: 1, open: 1}": "The job was not cancelled. It is still selected, to be tried again.",
		"{done: 0, all: 3, open: 1}": "None of the 3 jobs was cancelled. 1 is still selected, to be tried again.",
	} {
		var said string
		if page.Eval(`import("/assets/js/several.js").then(({outcomeOf}) => outcomeOf(`+result+`, "cancelled"))`, &said); said != want {
			t.Errorf("of %s it is said %q", result, said)
		}
	}
}
