package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/artifact/artifacttest"
)

// F8: a second server whose store.path is that of another one would abort the
// other's uploads. So would one whose database was lost.
func TestServe_RefusesAnotherServersStore(t *testing.T) {
	h := newHouse(t)
	first := h.serve("--data d")
	h.run(`mkdir e; echo "store: {path: $HOME/d/artifacts}" > e/config.yaml`)
	mark := filepath.Join(h.home, "d", "artifacts", "rendermac-store")
	before, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(when, data string) {
		t.Helper()
		term := h.open("rendermac serve --listen 127.0.0.1:" + artifacttest.FreePort(t, "127.0.0.1") + " --data " + data)
		<-term.ended
		doctor := h.open("rendermac doctor --data " + data)
		<-doctor.ended
		if code := term.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(term.err.String(), "is another server's store") || !strings.Contains(term.err.String(), "remove the file "+mark) {
			t.Errorf("%s: exit code %d: %s", when, code, &term.err)
		}
		if code := doctor.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(doctor.out.String(), "is another server's store") {
			t.Errorf("%s: doctor exits %d: %s", when, code, &doctor.out)
		}
	}
	refused("a new server", "e")
	refused("the same again", "e")
	if after, err := os.ReadFile(mark); err != nil || string(after) != string(before) {
		t.Errorf("the marker was %q and is %q, %v", before, after, err)
	}
	if out := h.run("rendermac doctor --data d || true"); strings.Contains(out, "another server's store") {
		t.Errorf("the store's own server: %s", out)
	}
	first.signal(15)
	h.run("rm d/rendermac.db*")
	refused("its own server without its database", "d")
	h.run("rm d/artifacts/rendermac-store")
	h.serve("--data d")
}
