package web

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// run is an attempt from and to so many seconds after noon, all of it in one phase.
func run(number, from, to int) Attempt {
	ended := at(to)
	return Attempt{Number: number, Status: "failed", Leased: at(from), Ended: &ended, Phases: []Phase{{"running", at(from), at(to)}}}
}

func percents(t *testing.T, texts ...string) (list []float64) {
	t.Helper()
	for _, text := range texts {
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil {
			t.Fatalf("%q is no percentage", text)
		}
		list = append(list, v)
	}
	return list
}

func TestStory_PhasesStandToScale(t *testing.T) {
	a := run(1, 0, 100)
	a.Phases = []Phase{{"downloading", at(0), at(20)}, {"running", at(20), at(90)}, {"uploading", at(90), at(100)}}
	lane := Job{Created: noon, Now: at(500), Attempts: []Attempt{a}}.Story().Lanes[0]
	want := [][2]string{{"0.00%", "20.00%"}, {"20.00%", "70.00%"}, {"90.00%", "10.00%"}}
	for i, p := range lane.Parts {
		if p.X != want[i][0] || p.Width != want[i][1] {
			t.Errorf("%s stands at %s, %s wide", p.Name, p.X, p.Width)
		}
	}
	if !lane.Parts[0].Wide || lane.Parts[2].Wide {
		t.Error("the names do not stand where there is room for them")
	}
}

// A night in the queue must not squeeze an hour of work into a line.
func TestStory_OnlyWaitsAreCut(t *testing.T) {
	day := 24 * 3600
	lanes := Job{Created: noon, Attempts: []Attempt{run(1, day, day+100), run(2, day+102, day+202)}}.Story().Lanes
	first, second := lanes[0].Parts, lanes[1].Parts
	if !first[0].Cut || second[0].Cut || first[0].Name != "waited" || first[0].Title != "waited 1 d" {
		t.Errorf("the waits are %+v and %+v", first[0], second[0])
	}
	w := percents(t, first[0].Width, first[1].Width, second[0].Width, second[1].Width)
	if w[0] > 11 || w[1] != w[3] || w[2] < w[1]*0.019 || w[2] > w[1]*0.021 {
		t.Errorf("the widths are %v", w)
	}
	if x := percents(t, second[1].X, second[1].Width); x[0]+x[1] < 99.99 || x[0]+x[1] > 100.01 {
		t.Errorf("the last one ends at %v", x[0]+x[1])
	}
}

func TestStory_ALiveAttemptReachesToNow(t *testing.T) {
	first, live := run(1, 0, 100), run(2, 100, 100)
	live.Ended, live.Phases = nil, []Phase{{"running", at(100), at(200)}}
	story := Job{Created: noon, Now: at(200), Attempts: []Attempt{first, live}}.Story()
	if !story.Live || !story.To.Equal(at(200)) {
		t.Errorf("it ends at %s", story.To)
	}
	if part := story.Lanes[1].Parts[0]; part.X != "50.00%" || part.Width != "50.00%" {
		t.Errorf("what runs stands at %s, %s wide", part.X, part.Width)
	}
	if said := story.Lanes[1].Sentence(); said != "1 min 40 s so far" {
		t.Errorf("of it is said %q", said)
	}
}

func TestStory_ResumesStandWithTheirEpochs(t *testing.T) {
	a := run(1, 0, 100)
	a.Marks = []Mark{{"leased", at(0), 0}, {"resumed", at(25), 2}, {"resumed", at(75), 3}, {"committed", at(99), 0}}
	lane := Job{Created: noon, Attempts: []Attempt{a}}.Story().Lanes[0]
	for i, want := range []Point{
		{"leased", "a Mac took it", "0.00%", 0, false},
		{"resumed", "the Mac came back and goes on: epoch 2", "25.00%", 2, false},
		{"resumed", "the Mac came back and goes on: epoch 3", "75.00%", 3, false},
		{"committed", "the result was delivered", "99.00%", 0, true},
	} {
		if lane.Points[i] != want {
			t.Errorf("mark %d is %+v", i, lane.Points[i])
		}
	}
	if said := lane.Spans(); said != "run 1 min 40 s · came back as epoch 2 and 3" {
		t.Errorf("in words: %q", said)
	}
	for n := range 400 {
		a.Marks = append(a.Marks, Mark{"resumed", at(100 * n / 400), int64(n + 4)})
	}
	lane = Job{Created: noon, Attempts: []Attempt{a}}.Story().Lanes[0]
	if len(lane.Points) > 30 || !strings.HasSuffix(lane.Spans(), "came back 402 times, last as epoch 403") {
		t.Errorf("%d marks; in words: %q", len(lane.Points), lane.Spans())
	}
}

// An end is explained where it stands, and its words have room.
func TestStory_WordsStandAtTheEnd(t *testing.T) {
	early, late := run(1, 0, 20), run(2, 20, 100)
	early.Status, early.Failure = "lost", "the Mac was not heard of."
	late.Status = "succeeded"
	lanes := Job{Created: noon, Attempts: []Attempt{early, late}}.Story().Lanes
	if l := lanes[0]; l.Late || l.Beside != "20.00%" || l.Sentence() != "Lost after 20 s: the Mac was not heard of." {
		t.Errorf("the first: late %t, beside %s, %q", l.Late, l.Beside, l.Sentence())
	}
	if l := lanes[1]; !l.Late || l.Beside != "0.00%" || l.Sentence() != "Succeeded after 1 min 20 s." {
		t.Errorf("the second: late %t, beside %s, %q", l.Late, l.Beside, l.Sentence())
	}
}

// What the page says of the job is not said again of the attempt that it failed by.
func TestStory_WhyTheJobFailedIsSaidOnce(t *testing.T) {
	first, last := run(1, 0, 20), run(2, 20, 24)
	first.Failure, last.Failure = "the input is damaged", "the input is damaged"
	job := Job{Status: "failed", Failure: "the input is damaged", Created: noon, Attempts: []Attempt{first, last}}
	lanes := job.Story().Lanes
	if a, b := lanes[0].Sentence(), lanes[1].Sentence(); a != "Failed after 20 s: the input is damaged." || b != "Failed after 4 s." {
		t.Errorf("the first: %q, the last: %q", a, b)
	}
	job.Status = "queued"
	if said := job.Story().Lanes[1].Sentence(); said != "Failed after 4 s: the input is damaged." {
		t.Errorf("while it waits for another try: %q", said)
	}
}

// Clocks go back, and what is over in a moment is seen all the same.
func TestStory_StaysWithinItsWidth(t *testing.T) {
	a := run(1, 10, 10)
	a.Phases = []Phase{{"leased", at(10), at(10)}, {"running", at(10), at(9)}}
	a.Marks = []Mark{{"leased", at(-50), 0}, {"committed", at(50), 0}}
	for _, j := range []Job{{Created: at(20), Attempts: []Attempt{a}}, {Created: at(10), Attempts: []Attempt{a}}, {Created: at(0), Attempts: []Attempt{a, a}}} {
		for _, lane := range j.Story().Lanes {
			for _, p := range lane.Parts {
				if at := percents(t, p.X, p.Width); at[0] < 0 || at[1] <= 0 || at[0]+at[1] > 100.001 {
					t.Errorf("%s stands at %s, %s wide", p.Name, p.X, p.Width)
				}
			}
			for _, p := range lane.Points {
				if at := percents(t, p.X); at[0] < 0 || at[0] > 100 {
					t.Errorf("%s stands at %s", p.Kind, p.X)
				}
			}
		}
	}
	if (Job{}).Story() != nil {
		t.Error("a job that nobody has begun has a story")
	}
}
