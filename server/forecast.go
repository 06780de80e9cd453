package server

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"rendermac/fence"
	"rendermac/store"
)

// forecast guesses when queued jobs start: each takes the slot that is free
// first among those it fits, in the order in which the matcher takes them, and
// holds it for as long as its service usually does.
type forecast struct {
	now     time.Time
	typical map[string]time.Duration // by service
	takers  []store.Machine          // those that take jobs
	slots   []slotForecast
}

type slotForecast struct {
	device string
	offers fence.Offers
	free   time.Duration // from now
	known  bool          // whether anybody can tell
}

func newForecast(o store.Overview, typical map[string]time.Duration) *forecast {
	f := &forecast{now: o.At, typical: typical}
	for _, m := range o.Machines {
		if m.State == "online" && m.Slots > 0 {
			f.takers = append(f.takers, m)
			f.slots = append(f.slots, f.slotsOf(m, o.Runs)...)
		}
	}
	return f
}

// slotsOf are a machine's. Where more runs than it has slots, as after they were
// made fewer, the first that end make no room.
func (f *forecast) slotsOf(m store.Machine, runs []store.LiveRun) []slotForecast {
	slots := make([]slotForecast, 0, m.Slots)
	for _, r := range runs {
		if r.DeviceID == m.ID {
			free, known := f.rest(r)
			slots = append(slots, slotForecast{m.ID, m.Offers, free, known})
		}
	}
	slices.SortFunc(slots, sooner)
	slots = slots[max(0, len(slots)-m.Slots):]
	for len(slots) < m.Slots {
		slots = append(slots, slotForecast{m.ID, m.Offers, 0, true})
	}
	return slots
}

// sooner puts what nobody can tell last.
func sooner(a, b slotForecast) int {
	if a.known != b.known {
		return cmp.Compare(btoi(b.known), btoi(a.known))
	}
	return cmp.Compare(a.free, b.free)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rest is how long a run still takes: what it says itself, else what its service
// usually does.
func (f *forecast) rest(r store.LiveRun) (time.Duration, bool) {
	typical, known := f.typical[r.Service]
	switch {
	case r.Status == fence.AttemptCommitting:
		return 0, true
	case r.ETA != nil && r.Status == fence.AttemptRunning:
		return time.Duration(*r.ETA * float64(time.Second)), true
	}
	return max(0, typical-f.now.Sub(r.LeasedAt)), known
}

// room is how many slots are free, and else how long until one is.
func (f *forecast) room() (free int, next *time.Duration) {
	for _, s := range f.slots {
		if s.known && s.free == 0 {
			free++
		}
	}
	if len(f.slots) == 0 {
		return free, nil
	}
	if first := slices.MinFunc(f.slots, sooner); first.known {
		next = &first.free
	}
	return free, next
}

// start is when the next job of the queue starts; nil where nobody can tell.
func (f *forecast) start(p store.Place) *time.Duration {
	best := -1
	for _, avoid := range []bool{true, false} { // a device that has ended it takes it only where no other can (F3)
		for i, s := range f.slots {
			_, tried := p.Tried[s.device]
			if !fence.Fits(p.Needs, s.offers) || tried && avoid {
				continue
			}
			if best < 0 || sooner(s, f.slots[best]) < 0 {
				best = i
			}
		}
		if best >= 0 {
			break
		}
	}
	if best < 0 {
		return nil
	}
	slot := &f.slots[best]
	start, known := max(slot.free, p.Tried[slot.device].Sub(f.now)), slot.known
	typical, has := f.typical[p.Service]
	slot.free, slot.known = start+typical, known && has
	if !known {
		return nil
	}
	return &start
}

// lacks is what keeps a job from the machine that comes nearest to running it;
// nothing where one can.
func (f *forecast) lacks(n fence.Needs) (least []string) {
	for i, m := range f.takers {
		var lacks []string
		if !slices.Contains(m.Offers.Services, n.Service) {
			lacks = append(lacks, n.Service)
		}
		lacks = append(append(lacks, without(n.Features, m.Offers.Features)...), without(n.Tags, m.Offers.Tags)...)
		if float64(m.Offers.MemoryBytes) < n.MinMemoryGB*(1<<30) {
			lacks = append(lacks, fmt.Sprintf("%g GB of memory", n.MinMemoryGB))
		}
		if i == 0 || len(lacks) < len(least) {
			least = lacks
		}
	}
	return least
}

func without(want, have []string) (missing []string) {
	for _, w := range want {
		if !slices.Contains(have, w) {
			missing = append(missing, w)
		}
	}
	return missing
}
