package qualify

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/api"
)

// Two Macs are about to commit as the server is restored: one whose run the
// backup knows, and one whose job came after it. Neither commit passes, both runs
// stop, and the job that is known runs again. A device and a key that were
// revoked after the backup stay revoked (F18).
func TestF18_ARestoreFencesWhatTheBackupDoesNotKnow(t *testing.T) {
	s := newSite(t, "")
	server := s.serve()
	ctx, film, backup := context.Background(), clip(t, 1, "320x180"), filepath.Join(s.home, "backup.db")
	for _, name := range []string{"one", "two"} {
		s.pair(name)
	}
	gone := s.pair("gone")
	accounts, err := s.buyer().Accounts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	key, err := s.buyer().CreateKey(ctx, api.KeyRequest{Name: "gone", AccountID: accounts[0].ID, Scope: "read"})
	if err != nil {
		t.Fatal(err)
	}
	aboutToCommit := func(name string) (id string, at points) {
		at = newPoints(t)
		at.hold("agent.commit")
		s.agent(name, at)
		id = s.submit(film)
		until(t, name+" is about to commit", func() bool { return at.held("agent.commit") })
		return id, at
	}
	before, one := aboutToCommit("one")
	if p := s.command(newPoints(t), "backup", backup); !p.cmd.ProcessState.Success() {
		t.Fatal(p.said())
	}
	after, two := aboutToCommit("two")
	if err := errors.Join(s.buyer().RevokeDevice(ctx, gone), s.buyer().RevokeKey(ctx, key.ID)); err != nil {
		t.Fatal(err)
	}
	if p := s.command(newPoints(t), "restore", backup); p.cmd.ProcessState.Success() || !strings.Contains(p.said(), "a server already runs") {
		t.Fatalf("a running server was restored: %s", p.said())
	}
	server.kill()
	if p := s.command(newPoints(t), "restore", backup); !p.cmd.ProcessState.Success() {
		t.Fatal(p.said())
	}
	s.serve()
	one.release("agent.commit")
	two.release("agent.commit")
	until(t, "the job has ended", func() bool { return s.job(before).Ended() })
	if j := s.job(before); j.Status != "succeeded" || len(j.Attempts) < 2 || j.Attempts[0].Status != "lost" {
		t.Errorf("the job that the backup knows is %s after %d attempts, the first %s", j.Status, len(j.Attempts), j.Attempts[0].Status)
	}
	refused := new(api.Error)
	if _, err := s.buyer().Job(ctx, after); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("the job of after the backup: %v", err)
	}
	until(t, "the runs have stopped", func() bool {
		left, _ := filepath.Glob(filepath.Join(s.home, "*", "work", "rendermac-run-*"))
		return len(left) == 0
	})
	devices, err := s.buyer().Devices(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices {
		if (d.State == "revoked") != (d.ID == gone) {
			t.Errorf("%s is %s", d.Name, d.State)
		}
	}
	_, err = api.NewClient(s.url, key.Plaintext, "test").Devices(ctx)
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("the revoked key was answered: %v", err)
	}
}
