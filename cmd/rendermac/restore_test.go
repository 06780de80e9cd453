package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A backup goes to a new machine, where no admin key is at hand: the start makes
// one, and the folder says all that a person needs.
func TestRestore_OntoANewMachine(t *testing.T) {
	h := newHouse(t)
	server := h.serve("")
	h.run("rendermac accounts create acme; rendermac backup backup.db")
	server.signal(syscall.SIGTERM)
	<-server.ended
	old := filepath.Join(h.home, ".local/share/rendermac")
	if err := os.Rename(old, filepath.Join(h.home, "old")); err != nil {
		t.Fatal(err)
	}
	said := h.run("rendermac restore backup.db")
	if !strings.Contains(said, "Restored: ") || !strings.Contains(said, "that start makes a new one") {
		t.Errorf("it says %q", said)
	}
	server = h.serve("")
	if list := h.run("rendermac accounts"); !strings.Contains(list, "acme") {
		t.Errorf("the accounts are %q", list)
	}
	server.signal(syscall.SIGTERM)
	<-server.ended
	var view struct {
		Database, Aside string
		BackupOf        string `json:"backup_of"`
		Warning         *string
	}
	if err := json.Unmarshal([]byte(h.run("rendermac restore backup.db --json")), &view); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(view.Aside); err != nil || view.Warning != nil || view.Database != filepath.Join(old, "rendermac.db") || view.BackupOf == "" {
		t.Errorf("%+v, %v", view, err)
	}
	bad := h.open("echo no > letter; rendermac restore letter")
	<-bad.ended
	if code := bad.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(bad.err.String(), "no backup of RenderMac") {
		t.Errorf("exit %d, %q", code, bad.err.String())
	}
}
