package agent

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func processes(t *testing.T) (all []process) {
	t.Helper()
	out, err := exec.Command("ps", "-ax", "-o", "pid=,pgid=,stat=").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var p process
		var state string
		if _, err := fmt.Sscan(line, &p.id, &p.group, &state); err != nil {
			t.Fatal(err)
		}
		p.dead = strings.HasPrefix(state, "Z")
		all = append(all, p)
	}
	return all
}
