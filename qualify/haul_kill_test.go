package qualify

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"rendermac/api"
)

// wordsEach is what may pass besides the film for every eight parts, every death
// and every stretch: addresses, answers, handshakes.
const wordsEach = 64 << 10

// killing is how many films go the whole way, and how often a party dies while
// one goes up, through its job, or down.
func killing() (films, deaths int) {
	if everyPass {
		return 50, 3
	}
	return 1, 1
}

// A party is killed at any byte of the way, and started again: the right bytes
// arrive, and no more is sent twice than what was on its way.
func TestHaul_KilledAtAnyByte(t *testing.T) {
	for _, on := range shelves {
		for _, party := range on.parties {
			t.Run(on.name+"/"+party, func(t *testing.T) {
				t.Parallel()
				random := crashSeed(t)
				films, _ := killing()
				kills := 0
				for range films {
					kills += newHaul(t, on, on.size, on.part).strike(party, random)
				}
				if t.Logf("%d deaths", kills); kills == 0 {
					t.Error("nobody was ever killed: the test proves nothing")
				}
			})
		}
	}
}

// strike goes the whole way while a party dies again and again.
func (h *haul) strike(party string, random *rand.Rand) (kills int) {
	h.Helper()
	var job string
	var done *api.Job
	h.pairMac()
	stretch := func(what string, up, down int64, concerned []string, do func()) {
		if !slices.Contains(concerned, party) {
			do()
			return
		}
		kills += h.stretch(what, party, up, down, random, do)
	}
	stretch("upload", h.size, 0, []string{"client", "server", "store"}, func() { job = h.upload() })
	stretch("job", h.size, h.size, []string{"agent", "server", "store"}, func() { done = h.run(job) })
	stretch("download", 0, h.size, []string{"client", "server", "store"}, func() { h.download(done) })
	return kills
}

// stretch does a part of the way, and counts what has passed against what had to.
func (h *haul) stretch(what, party string, up, down int64, random *rand.Rand, do func()) int {
	h.Helper()
	var kills atomic.Int64
	_, deaths := killing()
	for range deaths {
		at := random.Int64N(up + down)
		h.Logf("%s: the %s dies at byte %d", what, party, at)
		h.arm(at, func() { kills.Add(1); h.kill(party) })
	}
	upBefore, downBefore := h.traffic()
	do()
	h.disarm()
	upAfter, downAfter := h.traffic()
	words := (h.size/h.part/8 + kills.Load() + 1) * wordsEach
	for _, way := range []struct {
		name               string
		moved, needs, each int64
	}{{"up", upAfter - upBefore, up, h.part}, {"down", downAfter - downBefore, down, rangeBytes}} {
		h.Logf("%s, %s: %.2f MB moved of %.2f, %d deaths", what, way.name, mb(way.moved), mb(way.needs), kills.Load())
		if way.moved > way.needs+words+kills.Load()*inFlight*min(way.each, way.needs) {
			h.Errorf("%s, %s: %d bytes moved where %d were needed, %d times %d on their way, at %d deaths of the %s", what, way.name, way.moved, way.needs, inFlight, way.each, kills.Load(), party)
		}
		if way.moved < way.needs {
			h.Errorf("%s, %s: %d bytes moved, though %d were needed: the cables are passed by", what, way.name, way.moved, way.needs)
		}
	}
	return int(kills.Load())
}

func mb(bytes int64) float64 { return float64(bytes) / 1e6 }
