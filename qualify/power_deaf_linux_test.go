package qualify

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// deafDisks are disks on which one kind of sync does nothing, as if the product
// had forgotten it.
var deafDisks = map[string]deaf{
	"the WAL":            func(p string) bool { return path.Base(p) == "rendermac.db-wal" },
	"the database":       func(p string) bool { return path.Base(p) == "rendermac.db" },
	"the data directory": func(p string) bool { return p == "server" },
	"the folder above":   func(p string) bool { return p == "" },
	"the admin key":      func(p string) bool { return p == "server/admin.key" },
	// Not the file of revocations: each start completes it from the database.
	"parts":       func(p string) bool { return path.Ext(p) == ".data" },
	"journals":    func(p string) bool { return path.Ext(p) == ".journal" },
	"open writes": func(p string) bool { return p == "server/artifacts/writes" },
	// A rename is sure when either of its folders has been synced.
	"objects' folders": func(p string) bool {
		return p == "server/artifacts/writes" || strings.HasPrefix(p, "server/artifacts/objects")
	},
}

// seesDeafDisks proves that a forgotten sync would be found, whichever it is:
// the power goes right after something was acknowledged, be it rarely or often,
// and takes along all that was not synced.
func seesDeafDisks(t *testing.T, r *recording) {
	seed := rand.Uint64()
	t.Logf("cuts of seed %d", seed)
	from := rand.New(rand.NewPCG(seed, 1))
	told := r.marks()
	for _, name := range slices.Sorted(maps.Keys(deafDisks)) {
		t.Run(name, func(t *testing.T) {
			var cuts []int
			for _, at := range told {
				for range 20 {
					cuts = append(cuts, at[from.IntN(len(at))])
				}
			}
			for i, at := range cuts {
				d, o := newDisk(), newOutage(0, at)
				d.play(r, at, deafDisks[name])
				o.manner = loseAll
				faults := withFolder(t, d, o, func(folder string) []string { return checkServer(filepath.Join(folder, "server"), r.facts(at)) })
				if len(faults) > 0 {
					t.Logf("cut %d: %s", i+1, faults[0])
					return
				}
			}
			t.Errorf("%d cuts of a disk that is deaf to syncs of %s have found nothing", len(cuts), name)
		})
	}
}

// marks are the places right after each acknowledgement, by what was said.
func (r *recording) marks() [][]int {
	by := map[string][]int{}
	for i, o := range r.ops {
		var f fact
		if o.Kind == opMark && json.Unmarshal(o.Data, &f) == nil {
			by[f.What] = append(by[f.What], i+1)
		}
	}
	var out [][]int
	for _, what := range []string{toldAdmin, toldRevoked, toldPart, toldAccepted, toldUpload, toldOK, toldJob} {
		out = append(out, by[what])
	}
	return out
}
