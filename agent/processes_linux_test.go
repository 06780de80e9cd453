package agent

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func processes(t *testing.T) (all []process) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it ended just now
		}
		_, rest, _ := strings.Cut(string(stat), ") ") // state, parent, group …
		fields := strings.Fields(rest)
		group, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, process{id, group, fields[0] == "Z"})
	}
	return all
}
