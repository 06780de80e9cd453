// Package fencetest runs random histories, for tests of the model alone and of
// the store against it.
package fencetest

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Histories checks prop 500 times, or 100,000 times to soak, on all cores at
// once, and says how often. rapid takes its number of checks from flags only.
func Histories(t *testing.T, prop func(*rapid.T)) int {
	n, cores := 500, runtime.GOMAXPROCS(0)
	if os.Getenv("RENDERMAC_SOAK") != "" {
		n = 100_000
	}
	each := (n + cores - 1) / cores
	setFlag(t, "rapid.checks", strconv.Itoa(each))
	setFlag(t, "rapid.nofailfile", "true")
	t.Run("on all cores", func(t *testing.T) {
		for core := range cores {
			t.Run(strconv.Itoa(core), func(t *testing.T) {
				t.Parallel()
				rapid.Check(t, prop)
			})
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return each * cores
}

func setFlag(t *testing.T, name, value string) {
	before := flag.Lookup(name).Value.String()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, before) })
}
