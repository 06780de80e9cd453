package qualify

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"testing"
)

// The qualification card: every phase of a run against every fault, each cell a
// test of its own, with real processes, real ffmpeg and real files. `make
// qualify` writes what was measured to docs/evidence/qualification.md.

// phases are the moments at which a fault strikes; see reach.
var phases = []string{"queued", "leased", "downloading", "running", "uploading", "committing", "verifying"}

// fault is a column of the card.
type fault struct {
	name   string
	setup  setup
	strike func(*cell) // from the phase to the end of the job
	want   map[string]string
	note   string
}

// Outcomes: the job's status, then each attempt's with its code. "resumed" says
// that the last attempt must bear a later epoch than its first (F14).
const (
	succeeds  = "succeeded: att 1 succeeded"
	resumes   = succeeds + ", resumed"
	cancels   = "cancelled: att 1 cancelled buyer_cancelled"
	returns   = "succeeded: att 1 lost provider_offline, att 2 succeeded"
	takenOver = "succeeded: att 1 lost lease_expired, att 2 succeeded"
	triedAnew = "succeeded: att 1 failed internal_error, att 2 succeeded"
)

// each is what is expected in a column, phase by phase.
func each(outcomes ...string) map[string]string {
	want := map[string]string{}
	for i, outcome := range outcomes {
		if outcome != "" {
			want[phases[i]] = outcome
		}
	}
	return want
}

const dead = "agent kill, stays dead"

var faults = []fault{
	{"cancel", patient, (*cell).cancel, each("cancelled:", cancels, cancels, cancels, cancels, cancels, cancels), cancelNote},
	{"agent kill", patient, (*cell).killAgent, each(succeeds, returns, returns, returns, resumes, resumes, succeeds), killNote},
	{"agent freeze", twoMacs, (*cell).freezeAgent, each(succeeds, takenOver, takenOver, takenOver, takenOver, takenOver, succeeds), freezeNote},
	{"socket drop", onALine, (*cell).dropSocket, each(succeeds, resumes, resumes, resumes, resumes, succeeds, succeeds), dropNote},
	{"server kill", patient, (*cell).killServer, each(succeeds, resumes, resumes, resumes, resumes, resumes, succeeds), serverNote},
	{"store outage", patient, (*cell).loseStore, each(succeeds, succeeds, succeeds, succeeds, succeeds, succeeds, succeeds), outageNote},
	{"disk full", smallDisks, (*cell).fillDisk, each(succeeds, succeeds, triedAnew, triedAnew, succeeds, succeeds, succeeds), diskNote},
	{"clock jump", patient, (*cell).setClocks, each(succeeds, succeeds, succeeds, succeeds, succeeds, succeeds, succeeds), clockNote},
	{dead, twoMacs, (*cell).killForGood, each("", takenOver, takenOver, takenOver, takenOver, takenOver, ""), ""},
}

// atOnce is how many cells are measured at a time: most of a cell is waiting.
const atOnce = 4

// Faults have a site each and go on side by side; on a site the phases follow
// one another, which also shows that nothing of one cell is left for the next.
func TestQualification(t *testing.T) {
	if runtime.GOOS != "linux" {
		cannot(t, "the card finds what is left of a Mac's processes in /proc: it is measured on Linux")
	}
	path := os.Getenv("QUALIFY_CARD")
	c := &card{results: map[string]*result{}, turn: make(chan struct{}, atOnce)}
	if path != "" {
		var err error
		if c.version, err = committed(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := binary(); err != nil {
		t.Fatal(err)
	}
	reels := makeReels(t)
	var columns sync.WaitGroup
	for _, f := range faults {
		columns.Go(func() { c.column(t, f, reels) })
	}
	columns.Wait()
	if path != "" && !t.Failed() {
		if err := c.write(path); err != nil {
			t.Fatal(err)
		}
	}
}

// column measures one fault in every phase. A cell that fails takes its site
// with it: the next one begins on a new one.
func (c *card) column(t *testing.T, f fault, reels reels) {
	var b *bench
	for _, phase := range phases {
		if f.want[phase] == "" {
			continue
		}
		c.turn <- struct{}{}
		fine := t.Run(fmt.Sprintf("%s/%s", phase, f.name), func(st *testing.T) {
			if b == nil {
				b = newBench(t, st, f.setup, reels)
			}
			b.now.TB = st
			cell := &cell{bench: b, phase: phase, fault: f.name, result: &result{}}
			cell.reach()
			f.strike(cell)
			cell.judge(f.want[phase])
			c.add(phase, f.name, cell.result)
		})
		<-c.turn
		if !fine {
			b = nil
		}
	}
	t.Run("afterwards/"+f.name, func(st *testing.T) {
		if b == nil {
			st.Skip("no site is left to look at: the last cell failed, or cannot be measured here")
		}
		b.now.TB = st
		all := b.sum()
		if all.stale+all.lost+all.stuck+all.leaked > 0 {
			st.Errorf("stale commits accepted, acknowledged facts lost, jobs stuck, secrets in logs: %+v", all)
		}
		c.count(all)
	})
}
