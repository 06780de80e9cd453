package server

import (
	"fmt"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
)

var forecastNow = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

func machineOf(id string, slots int, features ...string) store.Machine {
	services := []string{"ffmpeg.transcode", "remotion.render"}
	return store.Machine{ID: id, State: "online", Slots: slots, Services: services, Offers: fence.Offers{Services: services, Features: features, MemoryBytes: 16 << 30}}
}

func runOn(device, service string, ago time.Duration, change ...func(*store.LiveRun)) store.LiveRun {
	r := store.LiveRun{JobLine: store.JobLine{Service: service}, DeviceID: device, Status: fence.AttemptRunning, LeasedAt: forecastNow.Add(-ago)}
	for _, c := range change {
		c(&r)
	}
	return r
}

func placeOf(service string, features ...string) store.Place {
	return store.Place{JobLine: store.JobLine{Service: service}, Needs: fence.Needs{Service: service, Features: features}}
}

const transcode, render, unheard = "ffmpeg.transcode", "remotion.render", "ffmpeg.concat"

// A minute is what a transcode usually takes, ten what a render does.
var usual = map[string]time.Duration{transcode: time.Minute, render: 10 * time.Minute}

func TestForecast_SaysWhenEachJobStarts(t *testing.T) {
	left := func(s float64) func(*store.LiveRun) { return func(r *store.LiveRun) { r.ETA = &s } }
	committing := func(r *store.LiveRun) { r.Status = fence.AttemptCommitting }
	draining := machineOf("b", 4)
	draining.State = "draining"
	tried := placeOf(transcode)
	tried.Tried = map[string]time.Time{"a": forecastNow.Add(90 * time.Second)}
	for name, c := range map[string]struct {
		machines []store.Machine
		runs     []store.LiveRun
		queue    []store.Place
		want     string // seconds until each starts; – where nobody can tell
	}{
		"free slots go first, then each waits its turn": {[]store.Machine{machineOf("a", 2)}, nil, []store.Place{placeOf(transcode), placeOf(render), placeOf(transcode), placeOf(transcode)}, "[0 0 60 120]"},
		"a run says itself how long it takes":           {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", render, 0, left(95))}, []store.Place{placeOf(transcode)}, "[95]"},
		"one that says nothing takes as long as usual":  {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", render, 4*time.Minute)}, []store.Place{placeOf(transcode)}, "[360]"},
		"or is about to end, if it took longer":         {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", transcode, time.Hour)}, []store.Place{placeOf(transcode)}, "[0]"},
		"one that is verified has left its slot":        {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", render, 0, committing)}, []store.Place{placeOf(transcode)}, "[0]"},
		"nobody knows how long an unheard of one takes": {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", unheard, 0)}, []store.Place{placeOf(transcode)}, "[–]"},
		"only what fits it takes a job":                 {[]store.Machine{machineOf("a", 1), machineOf("b", 1, "libx265")}, []store.LiveRun{runOn("b", transcode, 0, left(30))}, []store.Place{placeOf(transcode, "libx265"), placeOf(transcode, "prores")}, "[30 –]"},
		"one that drains takes none":                    {[]store.Machine{machineOf("a", 1), draining}, []store.LiveRun{runOn("a", transcode, 0, left(30))}, []store.Place{placeOf(transcode)}, "[30]"},
		"another Mac takes what one has tried":          {[]store.Machine{machineOf("a", 1), machineOf("b", 1)}, []store.LiveRun{runOn("b", transcode, 0, left(30))}, []store.Place{tried}, "[30]"},
		"and the same one after a while if it is alone": {[]store.Machine{machineOf("a", 1)}, nil, []store.Place{tried}, "[90]"},
		"slots that were taken away make no room":       {[]store.Machine{machineOf("a", 1)}, []store.LiveRun{runOn("a", transcode, 0, left(10)), runOn("a", transcode, 0, left(40))}, []store.Place{placeOf(transcode)}, "[40]"},
		"without a Mac nothing starts":                  {nil, nil, []store.Place{placeOf(transcode)}, "[–]"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newForecast(store.Overview{At: forecastNow, Machines: c.machines, Runs: c.runs}, usual)
			var got []string
			for _, p := range c.queue {
				if start := f.start(p); start == nil {
					got = append(got, "–")
				} else {
					got = append(got, fmt.Sprint(start.Seconds()))
				}
			}
			if fmt.Sprint(got) != c.want {
				t.Errorf("they start after %v, want %s", got, c.want)
			}
		})
	}
}

func TestForecast_SaysWhatTheNearestMacLacks(t *testing.T) {
	f := newForecast(store.Overview{At: forecastNow, Machines: []store.Machine{machineOf("a", 1), machineOf("b", 1, "libx265")}}, usual)
	p := placeOf(transcode, "libx265", "prores")
	p.Needs.Tags, p.Needs.MinMemoryGB = []string{"studio-b"}, 64
	if got := fmt.Sprint(f.lacks(p.Needs)); got != "[prores studio-b 64 GB of memory]" {
		t.Errorf("it lacks %s", got)
	}
	if got := f.lacks(placeOf(render).Needs); got != nil {
		t.Errorf("for what it can run it lacks %v", got)
	}
}
