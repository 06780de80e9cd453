package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDashboard_SettingsBelowAdminAreTheAccountsOwn(t *testing.T) {
	h := mustServe(t)
	for _, key := range []string{h.otherRead, h.otherAccountSubmit} {
		text := h.shown("/settings", key)
		for _, hidden := range []string{">studio<", h.account, "key_", "data-sheet", "<dialog id=\"new", "SQLite", h.dir, "Webhooks"} {
			if strings.Contains(text, hidden) {
				t.Errorf("below admin, the settings have %q", hidden)
			}
		}
		if !strings.Contains(text, "/settings/accounts/"+h.otherAccount) || !strings.Contains(text, "5 left of 5") {
			t.Errorf("below admin, the settings lack the account's own balance: %s", text)
		}
		h.shown("/settings/accounts/"+h.otherAccount, key)
		h.get("/settings/accounts/"+h.account, key).is(404)
	}
	h.shown("/settings/accounts/"+h.otherAccount, h.admin)
}

func TestDashboard_SettingsTellOfBackups(t *testing.T) {
	h := mustServe(t)
	h.srv.o.Backups = Backups{Every: time.Hour, Keep: 3, Folder: filepath.Join(h.dir, "backups")}
	tells := func(want ...string) {
		t.Helper()
		text := h.shown("/settings", h.admin)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("the settings do not say %q", w)
			}
		}
	}
	tells("Every hour; the newest 3 are kept", "None yet")
	h.clock.Advance(backupRetry + time.Second)
	tells("One is overdue.")
	made := h.clock.Now()
	if err := os.Mkdir(h.srv.o.Backups.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.srv.o.Backups.Folder, BackupFile(made)), make([]byte, 4000), 0o600); err != nil {
		t.Fatal(err)
	}
	tells(BackupFile(made), "4 kB")
	if text := h.shown("/settings", h.admin); strings.Contains(text, "overdue") {
		t.Error("a backup that was just made is overdue")
	}
	h.srv.o.Backups.Folder = filepath.Join(h.srv.o.Backups.Folder, BackupFile(made)) // a file
	tells("The folder cannot be read")
}

func TestDashboard_SettingsTellWhatTakesNoWrites(t *testing.T) {
	h := mustServe(t)
	if text := h.shown("/settings", h.admin); !strings.Contains(text, "Ready") {
		t.Error("a server that is well does not say so")
	}
	mount := h.unmount()
	h.clock.Advance(healthShown)
	if text := h.shown("/settings", h.admin); !strings.Contains(text, "Degraded") {
		t.Errorf("a server without its store does not say so: %s", text)
	}
	mount()
}
