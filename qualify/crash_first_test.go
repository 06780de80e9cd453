package qualify

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// beginnings are the data directories that a server may find at its start.
var beginnings = map[string]func(*crashSite){
	"fresh":   func(*crashSite) {},
	"upgrade": (*crashSite).oldDatabase,
}

// oldDatabase makes a database as the first released build left it.
func (s *crashSite) oldDatabase() {
	s.Helper()
	schema, err := os.ReadFile("../store/schema/0001_init.sql")
	if err != nil {
		s.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data(), "rendermac.db")+"?_pragma=journal_mode(wal)")
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{string(schema), "PRAGMA user_version=1", "INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_old', 'old', 'whsec_', 1)"} {
		if _, err := db.Exec(query); err != nil {
			s.Fatal(err)
		}
	}
}

// The server is killed at every mark of its first start, and of the start that
// migrates its database, and is started again: it comes up, its admin key works
// and is the only one, and the folder holds what it would hold anyway.
func TestCrash_FirstStartAtEveryMark(t *testing.T) {
	if only, one := wanted(t, "first"); one {
		_, files := calmStarts(t)
		strikeOnce(t, only, func(k kill) bool { return startAgain(t, k, files[k.script]) })
		return
	}
	random := crashSeed(t)
	passes, files := calmStarts(t)
	strike(t, draw(passes, random), func(k kill) bool { return startAgain(t, k, files[k.script]) })
}

// calmStarts are a start of each kind, and the stop of a server that has only
// been asked whether it is ready.
func calmStarts(t *testing.T) (passes, files map[string][]string) {
	t.Helper()
	passes, files = map[string][]string{}, map[string][]string{}
	for name, begin := range beginnings {
		s := newCrashSite(t)
		begin(s)
		s.serve().term()
		passes[name], files[name] = s.server.passed(), s.filesAtRest()
	}
	return passes, files
}

// filesAtRest are those of a stopped server's data directory, without SQLite's
// log: it stays for as long as this test has the database open.
func (s *crashSite) filesAtRest() []string {
	log := func(name string) bool { return name == "rendermac.db-wal" || name == "rendermac.db-shm" }
	return slices.Sorted(slices.Values(slices.DeleteFunc(filesBelow(s.data()), log)))
}

// startAgain starts a server that dies at a mark of its start or stop, and then
// one that does not.
func startAgain(t *testing.T, k kill, want []string) (reached bool) {
	t.Helper()
	s := newCrashSite(t)
	beginnings[k.script](s)
	s.server.killAt(k.mark, k.n)
	p := s.launch()
	until(t, "the server is ready or dead", func() bool { return p.gone() || s.ready() })
	p.term()
	reached = p.killed()
	s.server.spare()
	p = s.serve()
	if _, err := s.buyer().Devices(context.Background()); err != nil {
		t.Errorf("the admin key: %v", err)
	}
	all := s.settled()
	if keys := s.list(`SELECT id FROM api_keys WHERE revoked_at IS NULL`); len(keys) != 1 {
		all = append(all, fmt.Sprintf("%d keys work", len(keys)))
	}
	if k.script == "upgrade" && len(s.list(`SELECT id FROM accounts WHERE id = 'acc_old'`)) != 1 {
		all = append(all, "the old account is gone")
	}
	p.term()
	files := slices.DeleteFunc(s.filesAtRest(), func(name string) bool {
		return strings.HasPrefix(name, "rendermac.db.before-v") && !slices.Contains(want, name) // cut off between two steps of a migration, the second start copies what the first left
	})
	if !slices.Equal(files, want) {
		all = append(all, fmt.Sprintf("the folder holds %v, and should hold %v", files, want))
	}
	if len(all) > 0 {
		t.Errorf("QUALIFY_KILL=first:%s:\n%s\n%s", k, strings.Join(all, "\n"), p.said())
	}
	return reached
}

// A pairing that is cut off on the Mac's side leaves nothing behind that the
// next one does not take away, and never half a pairing.
func TestCrash_PairAtEveryMark(t *testing.T) {
	s := newCrashSite(t)
	s.serve()
	if only, one := wanted(t, "pair"); one {
		strikeOnce(t, only, s.pairAgain)
		return
	}
	strike(t, draw(s.calmPairing(), crashSeed(t)), s.pairAgain)
}

// calmPairing pairs, and notes the marks that are passed.
func (s *crashSite) calmPairing() map[string][]string {
	s.Helper()
	at := newPoints(s)
	if p := s.pairOnce("calm", at); !p.cmd.ProcessState.Success() {
		s.Fatalf("pair: %s", p.said())
	}
	return map[string][]string{"pair": at.passed()}
}

// pairAgain is a pairing that is killed, and the next one into the same folder.
func (s *crashSite) pairAgain(k kill) (reached bool) {
	s.Helper()
	at, dir := newPoints(s), filepath.Join(s.home, k.mark)
	at.killAt(k.mark, k.n)
	p := s.pairOnce(k.mark, at)
	if files := filesBelow(dir); k.mark == "cmd.pairing.after" && !slices.Equal(files, []string{"agent.json"}) {
		s.Errorf("QUALIFY_KILL=pair:%s: %v", k, files)
	}
	s.pair(k.mark)
	if files := filesBelow(dir); !slices.Equal(files, []string{"agent.json"}) {
		s.Errorf("QUALIFY_KILL=pair:%s, and paired anew: %v", k, files)
	}
	return p.killed()
}
