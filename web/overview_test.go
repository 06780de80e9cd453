package web

import (
	"testing"
	"time"
)

func after(d time.Duration) *time.Duration { return &d }

// The first line says who works, what waits, and when that changes.
func TestOverview_SaysHowItStands(t *testing.T) {
	working, ready := MacLane{State: "online", Busy: 1}, MacLane{State: "online"}
	draining, offline := MacLane{State: "draining"}, MacLane{State: "offline"}
	start := func(d time.Duration) []NextRow { return []NextRow{{Lacks: []string{"prores"}}, {Start: &d}} }
	for want, o := range map[string]Overview{
		"3 Macs working, 12 jobs queued, next free in about 4 min.":                       {Macs: []MacLane{working, working, working}, Queued: 12, Room: &Room{Next: after(4 * time.Minute)}},
		"1 Mac working, 1 job queued, next free in under a minute.":                       {Macs: []MacLane{working, ready}, Queued: 1, Room: &Room{Next: after(0)}},
		"1 Mac working, nothing queued, 1 slot free.":                                     {Macs: []MacLane{working}, Room: &Room{Free: 1, Next: after(0)}},
		"1 Mac working, 2 jobs queued.":                                                   {Macs: []MacLane{working}, Queued: 2, Room: &Room{}, Next: []NextRow{{}}},
		"2 Macs ready, nothing queued, 6 slots free.":                                     {Macs: []MacLane{ready, ready}, Room: &Room{Free: 6}},
		"2 Macs ready, 1 job queued, and no Mac can take it yet.":                         {Macs: []MacLane{ready, ready}, Queued: 1, Room: &Room{Free: 6}, Next: []NextRow{{Lacks: []string{"prores"}}}},
		"1 Mac draining, more than 10,000 jobs queued.":                                   {Macs: []MacLane{draining, offline}, Queued: 10000, Many: true, Room: &Room{}},
		"The Mac is offline, 1 job queued, and no Mac can take it yet.":                   {Macs: []MacLane{offline}, Queued: 1, Room: &Room{}, Next: []NextRow{{NoMac: true}}},
		"All 2 Macs are offline, nothing queued.":                                         {Macs: []MacLane{offline, offline}, Room: &Room{}},
		"1 Mac working, 2 jobs of yours queued, the next one starts in about 1 h 20 min.": {Mine: true, Macs: []MacLane{working}, Queued: 2, Next: start(75 * time.Minute)},
		"1 Mac working, nothing of yours queued.":                                         {Mine: true, Macs: []MacLane{working}},
	} {
		if got := o.Sentence(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

// A guess is said no more exactly than it is.
func TestAbout_RoundsAsPeopleDo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		49 * time.Second: "under a minute", 50 * time.Second: "about 1 min", 59*time.Minute + 29*time.Second: "about 59 min", 59*time.Minute + 40*time.Second: "about 1 h",
		84 * time.Minute: "about 1 h 20 min", 13*time.Hour + 20*time.Minute: "about 13 h", 50 * time.Hour: "about 2 d 2 h",
	} {
		if got := about(d); got != want {
			t.Errorf("%s is said as %q, want %q", d, got, want)
		}
	}
}

// What is there is seen, however little, and the two kinds keep one scale.
func TestOverview_PlotsItsHours(t *testing.T) {
	p := Overview{Hours: []HourCount{{Succeeded: 1000, Failed: 500}, {Succeeded: 1}, {}}}.Plot()
	if p.Succeeded != 1001 || p.Failed != 500 || p.Most != 1500 {
		t.Errorf("in all %+v", p)
	}
	first, second, third := p.Bars[0], p.Bars[1], p.Bars[2]
	if first.Y != 1 || first.Height != 52 || first.Depth != 26 || p.Line != first.Y+first.Height || p.Line+first.Depth >= plotHeight {
		t.Errorf("the fullest hour is %+v on a line at %d", first, p.Line)
	}
	if second.Height != 2 || second.Y+second.Height != p.Line || second.Depth != 0 || third.Height != 0 || third.Ago != "this hour" {
		t.Errorf("then %+v and %+v", second, third)
	}
}

func TestDay_DrawsWhatWasShortAndKeepsWithinTheDay(t *testing.T) {
	for want, d := range map[string]Day{
		"":                  nil,
		"M0 5h10M1437 5h3":  {{-30, 10}, {1439.5, 1441}},
		"M100 5h20":         {{110, 120}, {100, 109.5}}, // a pause under a minute is none
		"M100 5h3M200 5h60": {{200, 260}, {100, 100}, {1500, 1600}},
	} {
		if got := d.Path(); got != want {
			t.Errorf("%v is drawn as %q, want %q", d, got, want)
		}
	}
}
