package qualify

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPower_NothingAcknowledgedIsLost records a server's life once: first start,
// load, a clean stop, a start, load and a kill in the midst of it, a start and
// load again. Then it cuts the power at many places of it (the model is at
// disk), and from every one of them a server must come up and keep its word.
//
// A failure names its log and cut; to see it again:
//
//	QUALIFY_LOG=… QUALIFY_CUT=seed:position go test -run TestPower_Nothing ./qualify
func TestPower_NothingAcknowledgedIsLost(t *testing.T) {
	r := recorded(t, recordServer)
	if again, ok := replay(t); ok {
		cutServer(t, r, again)
		return
	}
	r.describe(t)
	t.Run("cuts", func(t *testing.T) { cutServer(t, r, choose(t, r, soak(60, 1000))) })
	t.Run("the harness sees", func(t *testing.T) { seesDeafDisks(t, r) })
}

// soak is the number for `make soak`, or the one for every day.
func soak(every, slow int) int {
	if os.Getenv("RENDERMAC_SOAK") != "" {
		return slow
	}
	return every
}

// recorded is the recording that QUALIFY_LOG names, or else a new one.
func recorded(t *testing.T, record func(*testing.T) string) *recording {
	t.Helper()
	log := os.Getenv("QUALIFY_LOG")
	if log == "" {
		log = record(t)
	}
	r, err := readLog(log)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func recordServer(t *testing.T) (log string) {
	t.Helper()
	s := newStudio(t)
	orders := soak(12, 30)
	s.boot()
	s.load(orders, func() {})
	s.server.term()
	s.boot()
	s.load(orders, func() { s.killed.Store(true); s.server.kill(); s.giveUp() })
	s.boot()
	s.load(orders, func() {})
	s.server.term()
	s.pull()
	return s.log
}

// describe says what a recording covers, and insists on what it must.
func (r *recording) describe(t *testing.T) {
	t.Helper()
	syncs, marks, checkpoints, anew, sinceHeader := 0, 0, 0, 0, 0
	for _, o := range r.ops {
		name := filepath.Base(r.paths[o.Ino])
		switch {
		case o.Kind == opMark:
			marks++
		case o.Kind == opSync && name == "rendermac.db":
			checkpoints++
		case o.Kind == opSync:
			syncs++
		case o.Kind == opWrite && name == "rendermac.db-wal" && o.Off > 0:
			sinceHeader++
		case o.Kind == opWrite && name == "rendermac.db-wal":
			if sinceHeader > 4000 { // a long WAL, not one of a start
				anew++
			}
			sinceHeader = 0
		}
	}
	t.Logf("%d operations, %d syncs, %d facts, %d checkpoints, %d WALs that begin anew", len(r.ops), syncs, marks, checkpoints, anew)
	if checkpoints < 4 || anew < 1 {
		t.Error("the recording has too few checkpoints to say anything about them")
	}
}

// where is a cut to make.
type where struct {
	seed uint64
	at   int
}

func (w where) String() string { return fmt.Sprintf("%d:%d", w.seed, w.at) }

// replay is the cut that QUALIFY_CUT asks for.
func replay(t *testing.T) (cuts []where, ok bool) {
	text := os.Getenv("QUALIFY_CUT")
	if text == "" {
		return nil, false
	}
	var w where
	if _, err := fmt.Sscanf(text, "%d:%d", &w.seed, &w.at); err != nil {
		t.Fatalf("QUALIFY_CUT is seed:position, not %q", text)
	}
	return []where{w}, true
}

// choose picks places: half of them just before or behind what a disk promises
// something by, a tenth of all before the first start has ended, the rest
// anywhere. They are in order, as a disk is played only forwards.
func choose(t *testing.T, r *recording, n int) []where {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("%d cuts of seed %d", n, seed)
	from := rand.New(rand.NewPCG(seed, 0))
	var edges []int
	ready := 0
	for i, o := range r.ops {
		switch o.Kind {
		case opSync, opRename, opRemove, opMark:
			edges = append(edges, i)
		}
		if ready == 0 && o.Kind == opMark && strings.Contains(string(o.Data), toldAdmin) {
			ready = i
		}
	}
	var out []where
	for i := range n {
		at := from.IntN(len(r.ops) + 1)
		switch {
		case i%10 == 0:
			at = from.IntN(ready + 1)
		case i%2 == 0:
			at = edges[from.IntN(len(edges))] + from.IntN(2)
		}
		out = append(out, where{from.Uint64(), at})
	}
	slices.SortFunc(out, func(a, b where) int { return a.at - b.at })
	return out
}

// cutServer cuts at every place and checks what is left; every tenth time, and
// always during the first start, with the binary as well.
func cutServer(t *testing.T, r *recording, cuts []where) {
	t.Helper()
	d := newDisk()
	for i, w := range cuts {
		d.play(r, w.at, nil)
		f := r.facts(w.at)
		faults := withFolder(t, d, newOutage(w.seed, w.at), func(folder string) []string { return checkServer(filepath.Join(folder, "server"), f) })
		if i%10 == 0 || !f.told("", toldAdmin) {
			faults = append(faults, withFolder(t, d, newOutage(w.seed, w.at), func(folder string) []string { return checkBinary(t, filepath.Join(folder, "server")) })...)
		}
		if len(faults) > 0 {
			t.Errorf("QUALIFY_LOG=%s QUALIFY_CUT=%s (%s) of %d:\n  %s", r.keep(t), w, newOutage(w.seed, w.at), len(r.ops), strings.Join(faults, "\n  "))
		}
	}
}

// withFolder makes a cut's leftovers for as long as fn looks at them; in memory,
// where syncs cost nothing.
func withFolder(t *testing.T, d *disk, o *outage, fn func(folder string) []string) []string {
	t.Helper()
	base := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		base = "/dev/shm"
	}
	folder, err := os.MkdirTemp(base, "qualify-cut-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := d.leave(o, folder); err != nil {
		t.Fatal(err)
	}
	return fn(folder)
}

// keep copies a recording to where it outlives the test.
func (r *recording) keep(t *testing.T) string {
	t.Helper()
	if os.Getenv("QUALIFY_LOG") != "" || r.kept {
		return r.file
	}
	kept, err := os.CreateTemp("", "qualify-power-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	from, err := os.Open(r.file)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	if _, err := io.Copy(kept, from); err != nil {
		t.Fatal(err)
	}
	r.file, r.kept = kept.Name(), true
	return r.file
}
