package qualify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"rendermac/api"
)

// restoreDay is a stopped server's data directory, and a backup from before its
// second account came and its first Mac was revoked.
type restoreDay struct {
	testing.TB
	data, backup, device string
}

func newRestoreDay(t testing.TB) *restoreDay {
	t.Helper()
	s := newSite(t, "")
	r := &restoreDay{TB: t, data: s.data(), backup: filepath.Join(s.home, "backup.db")}
	p := s.serve()
	s.makeAccount("before")
	r.device = s.pair("mac")
	s.command(newPoints(t), "backup", r.backup)
	s.makeAccount("after")
	if err := s.buyer().RevokeDevice(context.Background(), r.device); err != nil {
		t.Fatal(err)
	}
	p.term()
	return r
}

func (s *site) makeAccount(name string) {
	s.Helper()
	if _, err := s.buyer().CreateAccount(context.Background(), api.AccountRequest{Name: name}); err != nil {
		s.Fatal(err)
	}
}

// command runs one on the server's data directory, to its end.
func (s *site) command(at points, args ...string) *process {
	s.Helper()
	p := start(s, s.home, at, append(args, "--data", s.data())...)
	p.wait()
	return p
}

// again is a site with a copy of the data directory.
func (r *restoreDay) again(t testing.TB) *site {
	t.Helper()
	s := newSite(t, "")
	if out, err := exec.Command("cp", "-a", r.data+"/.", s.data()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return s
}

// restoring is a backup of the server and the restore of the older one, or the
// start that finishes a restore which was cut off.
func (r *restoreDay) restoring(s *site, script string) *process {
	s.Helper()
	if script == "restore" {
		if p := s.command(s.server, "backup", filepath.Join(s.home, "newer.db")); !p.cmd.ProcessState.Success() {
			return p
		}
		return s.command(s.server, "restore", r.backup)
	}
	at := newPoints(s)
	at.killAt("store.restore.ready.after", 1)
	if p := s.command(at, "restore", r.backup); !p.killed() {
		s.Fatalf("the restore was not cut off: %s", p.said())
	}
	p := s.launch()
	until(s, "the server is ready or dead", func() bool { return p.gone() || s.ready() })
	p.term()
	return p
}

// calm are the marks of backup and restore that each script passes.
func (r *restoreDay) calm() map[string][]string {
	passes := map[string][]string{}
	for _, script := range []string{"restore", "finish"} {
		s := r.again(r)
		if p := r.restoring(s, script); !p.cmd.ProcessState.Success() {
			r.Fatalf("%s: %s", script, p.said())
		}
		passes[script] = slices.DeleteFunc(s.server.passed(), func(mark string) bool {
			return !strings.HasPrefix(mark, "store.restore.") && !strings.HasPrefix(mark, "store.backup.")
		})
	}
	return passes
}

// Backup and restore are killed at every mark, and so is the start that finishes
// a restore: what comes next finds the old database or the new one, whole, and
// the restore can be repeated (F18).
func TestCrash_RestoreAtEveryMark(t *testing.T) {
	r := newRestoreDay(t)
	if only, one := wanted(t, "restore"); one {
		strikeOnce(t, only, r.killAt)
		return
	}
	random := crashSeed(t)
	strike(t, draw(r.calm(), random), r.killAt, r.killAt)
}

func (r *restoreDay) killAt(k kill) (reached bool) {
	r.Helper()
	s := r.again(r)
	s.server.killAt(k.mark, k.n)
	p := r.restoring(s, k.script)
	s.server.spare()
	want := []string{"after", "before", "studio"}
	if k.script == "finish" || slices.Contains(s.server.passed(), "store.restore.ready.after") {
		want = []string{"before", "studio"}
	}
	if len(k.mark)%2 == 0 { // some are looked at by a start, some by a restore
		r.look(s, k, want)
	}
	s.command(newPoints(s), "restore", r.backup)
	r.look(s, k, []string{"before", "studio"})
	return p.killed()
}

// look starts the server and holds what it has against what it should have.
func (r *restoreDay) look(s *site, k kill, want []string) {
	s.Helper()
	p := s.serve()
	defer p.term()
	accounts, err := s.buyer().Accounts(context.Background()) // the admin key works
	var names []string
	for _, a := range accounts {
		names = append(names, a.Name)
	}
	if slices.Sort(names); err != nil || !slices.Equal(names, want) {
		s.Errorf("QUALIFY_KILL=restore:%s: accounts %v, want %v (%v)", k, names, want, err)
	}
	if s.row(`SELECT revoked_at IS NOT NULL FROM devices WHERE id = ?`, r.device) != "1" || s.row(`SELECT integrity_check FROM pragma_integrity_check`) != "ok" {
		s.Errorf("QUALIFY_KILL=restore:%s: the Mac is back, or the database is damaged", k)
	}
	files, err := os.ReadDir(s.data())
	for _, file := range files {
		if strings.Contains(file.Name(), ".restored-") || strings.Contains(file.Name(), ".coming") || err != nil {
			s.Errorf("QUALIFY_KILL=restore:%s: left behind: %s (%v)", k, file.Name(), err)
		}
	}
}
