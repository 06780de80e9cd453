package qualify

import (
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
	"revocations":        func(p string) bool { return p == "server/revoked" },
	"parts":              func(p string) bool { return path.Ext(p) == ".data" },
	"journals":           func(p string) bool { return path.Ext(p) == ".journal" },
	"open writes":        func(p string) bool { return p == "server/artifacts/writes" },
	// A rename is sure when either of its folders has been synced.
	"objects' folders": func(p string) bool {
		return p == "server/artifacts/writes" || strings.HasPrefix(p, "server/artifacts/objects")
	},
}

// seesDeafDisks proves that a forgotten sync would be found, whichever it is.
func seesDeafDisks(t *testing.T, r *recording) {
	var marks []int
	for i, o := range r.ops {
		if o.Kind == opMark {
			marks = append(marks, i+1)
		}
	}
	for name, ignored := range deafDisks {
		t.Run(name, func(t *testing.T) {
			d, tries := newDisk(), soak(30, 100)
			at := make([]int, tries)
			for i := range at { // the first of them early on, when little has been synced
				at[i] = marks[rand.IntN(len(marks)*(i+1)/tries)]
			}
			slices.Sort(at)
			for i, at := range at {
				d.play(r, at, ignored)
				o := newOutage(0, at)
				o.manner = loseAll
				faults := withFolder(t, d, o, func(folder string) []string { return checkServer(filepath.Join(folder, "server"), r.facts(at)) })
				if len(faults) > 0 {
					t.Logf("cut %d: %s", i+1, faults[0])
					return
				}
			}
			t.Errorf("%d cuts of a disk that is deaf to syncs of %s have found nothing", tries, name)
		})
	}
}
