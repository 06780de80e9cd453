package web

import (
	"testing"
	"time"
)

func TestJob_SaysHowItStandsAndWhatACancelWouldDo(t *testing.T) {
	live := Attempt{Number: 1, Device: "studio-1", Leased: noon}
	for _, c := range []struct {
		job            Job
		stands, cancel string
	}{
		{Job{Status: "queued"}, "Waiting for a Mac with a free slot.", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", Next: &NextRow{Lacks: []string{"remotion"}}}, "It waits for a Mac that offers remotion.", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", Next: &NextRow{Start: new(4 * time.Minute)}}, "It starts in about 4 min.", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", Next: &NextRow{}}, "Waiting for a Mac with a free slot.", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", Reading: 2}, "The server reads 2 files first, so that no Mac works on another.", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", WaitingOn: &JobLink{}}, "", "No Mac works on it: it ends at once."},
		{Job{Status: "queued", MaxAttempts: 3, Attempts: []Attempt{run(1, 0, 1)}}, "Attempt 1 of 3 has ended; the job waits to be tried again. Waiting for a Mac with a free slot.", "No Mac works on it: it ends at once."},
		{Job{Status: "active", Attempts: []Attempt{live}}, "", "studio-1 is told to stop. Nothing of what it has done is kept."},
		{Job{Status: "verifying", Attempts: []Attempt{live}}, "The result has arrived. The server checks that it is what was asked for.", "Its result has arrived and is being checked. It is thrown away."},
		{Job{Status: "cancelling", Attempts: []Attempt{live}}, "The Mac is told to stop; nothing of this run is kept.", "It is being cancelled already."},
		{Job{Status: "failed", Failure: "no Mac took it"}, "No Mac took it.", "It has ended already: there is nothing to cancel."},
		{Job{Status: "succeeded"}, "", "It has ended already: there is nothing to cancel."},
	} {
		if c.job.Sentence() != c.stands || c.job.CancelSays() != c.cancel {
			t.Errorf("%s says %q and %q", c.job.Status, c.job.Sentence(), c.job.CancelSays())
		}
	}
	held := Job{Status: "queued", Hold: &Hold{Credits: 20, State: "held"}}
	if said := held.CancelFrees(); said != "The 20 credits that it holds are given back." {
		t.Errorf("of its credits it says %q", said)
	}
	held.Hold.State = "captured"
	if said := held.CancelFrees(); said != "" {
		t.Errorf("of spent credits it says %q", said)
	}
}

func TestJob_SaysWhyALogIsEmpty(t *testing.T) {
	ended := run(1, 0, 10)
	for want, c := range map[string]struct {
		job     Job
		attempt Attempt
	}{
		"No log yet.":                    {Job{Now: at(20), LogsKept: time.Minute}, Attempt{}},
		"Nothing was logged.":            {Job{Now: at(20), LogsKept: time.Minute}, ended},
		"Retention has removed the log.": {Job{Now: at(90), LogsKept: time.Minute}, ended},
	} {
		if got := c.job.NoLog(c.attempt); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	if got := (Job{Now: at(1e6)}).NoLog(ended); got != "Nothing was logged." {
		t.Errorf("where logs are kept for ever it says %q", got)
	}
}

func TestJob_SaysHowManyFailWithIt(t *testing.T) {
	for want, job := range map[string]Job{
		"": {Status: "active"},
		"1 job waits for its output: it fails with it.":                {Status: "active", Dependents: 1},
		"1,000 jobs wait for its output: they fail with it.":           {Status: "queued", Dependents: 1000},
		"More than 1,000 jobs wait for its output: they fail with it.": {Status: "queued", Dependents: 1000, MoreDependents: true},
	} {
		if said := job.CancelFails(); said != want {
			t.Errorf("of %d it says %q, want %q", job.Dependents, said, want)
		}
	}
	if said := (Job{Status: "cancelling", Dependents: 3}).CancelFails(); said != "" {
		t.Errorf("of one that is being cancelled it says %q", said)
	}
}
