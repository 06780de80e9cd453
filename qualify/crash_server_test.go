package qualify

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// kill is one point at which a process is killed: the n-th pass of a mark since
// the script began.
type kill struct {
	script, mark string
	n            int
}

func (k kill) String() string { return fmt.Sprintf("%s:%s:%d", k.script, k.mark, k.n) }

// wanted is the one kill that QUALIFY_KILL="process:script:mark:n" asks for.
func wanted(t testing.TB, process string) (k kill, only bool) {
	fields := strings.Split(os.Getenv("QUALIFY_KILL"), ":")
	if len(fields) == 1 {
		return k, false
	}
	if len(fields) != 4 || fields[0] != process {
		t.Skip("QUALIFY_KILL asks for another process's end")
	}
	n, err := strconv.Atoi(fields[3])
	if err != nil {
		t.Fatal(err)
	}
	return kill{fields[1], fields[2], n}, true
}

// crashSeed is printed, and taken from QUALIFY_SEED to draw with the same dice.
// The passes that it draws from are recorded anew, so they may be other kills:
// the QUALIFY_KILL that is printed with a failure is the true replay.
func crashSeed(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("QUALIFY_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("QUALIFY_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

var everyPass = os.Getenv("RENDERMAC_SOAK") != ""

// calm runs every script without a kill and notes which marks each passes, and
// how often.
func (d *day) calm(scripts map[string]func(*day)) map[string][]string {
	d.Helper()
	passes := map[string][]string{}
	for _, name := range sortedNames(scripts) {
		d.arm()
		scripts[name](d)
		d.check("a calm " + name)
		passes[name] = d.site.server.passed()[d.from:]
	}
	return passes
}

// chance is a kill that is drawn, and two others of its mark for when it is not
// reached: what happens twice is never quite the same.
type chance [3]kill

func newChance(all []kill, i int) chance {
	return chance{all[i], all[(i+1)%len(all)], all[0]} // the first one comes whatever a run varies by
}

// draw chooses a pass of every distinct mark, or, to soak, every pass of all.
// Where a mark stands for many things, one more of it is drawn.
func draw(passes map[string][]string, random *rand.Rand) (kills []chance) {
	byMark := map[string][]kill{}
	for _, script := range sortedNames(passes) {
		count := map[string]int{}
		for _, mark := range passes[script] {
			count[mark]++
			byMark[mark] = append(byMark[mark], kill{script, mark, count[mark]})
		}
	}
	for _, mark := range sortedNames(byMark) {
		all := byMark[mark]
		switch {
		case everyPass:
			for i := range all {
				kills = append(kills, newChance(all, i))
			}
			continue
		case len(all) > 20:
			kills = append(kills, newChance(all, random.IntN(len(all))), newChance(all, random.IntN(len(all))))
		}
		kills = append(kills, newChance(all, random.IntN(len(all))))
	}
	random.Shuffle(len(kills), func(i, j int) { kills[i], kills[j] = kills[j], kills[i] })
	return kills
}

// The server is killed at every mark, amid everything that it does, and is
// started again: nothing that was acknowledged is lost, nothing is stuck, and
// nothing is left behind (F6, F8, F11, F14, F15, F16, F18).
func TestCrash_ServerAtEveryMark(t *testing.T) {
	film := crashFilm(t)
	only, one := wanted(t, "server")
	if one {
		strikeOnce(t, only, newMacDay(t, film).killAt)
		return
	}
	random := crashSeed(t)
	first := newMacDay(t, film)
	strike(t, draw(first.calm(scripts), random), first.killAt, newMacDay(t, film).killAt)
}

// strikeOnce is one kill again.
func strikeOnce(t testing.TB, k kill, killAt func(kill) (reached bool)) {
	t.Helper()
	if !killAt(k) {
		t.Errorf("not reached this time: %s", k)
	}
}

// strike kills on all sites side by side. No mark may go without its kill, nor
// more than a few of the kills be missed: it would be the test that is broken.
func strike(t testing.TB, kills []chance, sites ...func(kill) (reached bool)) {
	t.Helper()
	var (
		begin    = time.Now()
		together sync.WaitGroup
		mu       sync.Mutex
		struck   = map[string]int{}
		missed   []kill
		orders   atomic.Int64
	)
	for i, killAt := range sites {
		together.Go(func() {
			for j := i; j < len(kills) && !t.Failed(); j += len(sites) {
				reached := slices.ContainsFunc(kills[j][:], func(k kill) bool { orders.Add(1); return killAt(k) })
				mu.Lock()
				if k := kills[j][0]; reached {
					struck[k.mark]++
				} else {
					missed = append(missed, k)
				}
				mu.Unlock()
			}
		})
	}
	together.Wait()
	t.Logf("%d kills at %d marks, of %d ordered, in %s; missed: %v", len(kills)-len(missed), len(struck), orders.Load(), time.Since(begin).Round(time.Millisecond), missed)
	for _, k := range missed {
		if struck[k.mark] == 0 {
			t.Errorf("nothing was ever killed at %s", k.mark)
		}
	}
	if 10*len(missed) > len(kills) {
		t.Errorf("%d of %d kills were missed", len(missed), len(kills))
	}
}

// killAt runs a script with the server's death in it, and looks.
func (d *day) killAt(k kill) (reached bool) {
	d.Helper()
	before := d.server.killed()
	d.order = fmt.Sprintf("%s +%d", k.mark, k.n)
	d.arm()
	scripts[k.script](d)
	d.order = ""
	d.site.server.spare()
	d.check("QUALIFY_KILL=server:" + k.String())
	return d.server.killed() > before
}

// check looks at the site once all is quiet.
func (d *day) check(when string) {
	d.Helper()
	all := append(d.settled(), d.kept()...)
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	d.Errorf("%s:\n%s\nthe server since its last start:\n%s", when, strings.Join(all, "\n"), d.server.said())
}
