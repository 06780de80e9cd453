package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A backup is made of a running server, and of one that was killed; it has the
// account's key, is for its owner only, and its name is never taken twice.
func TestBackup_OfAServerThatRunsAndOfOneThatWasKilled(t *testing.T) {
	h := newHouse(t)
	server := h.serve("")
	h.run("rendermac accounts create acme")
	first := filepath.Join(h.home, "safe", "first.db")
	if said := h.run("mkdir safe; rendermac backup %s", first); said != first+"\n" {
		t.Errorf("it printed %q", said)
	}
	server.signal(syscall.SIGKILL)
	<-server.ended
	var made struct {
		File  string
		Bytes int64
	}
	if err := json.Unmarshal([]byte(h.run("rendermac backup safe --json")), &made); err != nil {
		t.Fatal(err)
	}
	if ok, _ := filepath.Match(filepath.Join(h.home, "safe", "rendermac-*T*Z.db"), made.File); !ok {
		t.Errorf("a folder got the file %s", made.File)
	}
	for _, file := range []string{first, made.File} {
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		var accounts int
		err = db.QueryRow(`SELECT count(*) FROM accounts`).Scan(&accounts)
		if db.Close(); err != nil || accounts != 2 {
			t.Errorf("%s has %d accounts (%v)", file, accounts, err)
		}
	}
	again := h.open("rendermac backup " + first)
	<-again.ended
	if code := again.cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(again.err.String(), "choose another name") {
		t.Errorf("onto a taken name: exit %d, %q", code, again.err.String())
	}
}
