package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"rendermac/store"
	"rendermac/store/storetest"
)

// A backup of a store at work is one moment of it: everything that was answered
// before it began is there, and nothing is there in part.
func TestBackup_IsOneMomentOfAStoreAtWork(t *testing.T) {
	f := open(t)
	priced := storetest.Job(f.account, f.upload)
	priced.Credits = 3
	stop := make(chan struct{})
	var mu sync.Mutex
	var answered []string
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				ids, err := f.Submit(ctx, priced, priced)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				answered = append(answered, ids...)
				mu.Unlock()
				if _, err := f.Cancel(ctx, ids[0]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 4 {
		mu.Lock()
		before := slices.Clone(answered)
		mu.Unlock()
		target := filepath.Join(t.TempDir(), "copy.db")
		size, err := f.Backup(ctx, target)
		must(t, err)
		info, err := os.Stat(target)
		must(t, err)
		if info.Size() != size || info.Mode().Perm() != 0o600 {
			t.Errorf("the copy is %d bytes of mode %v, said to be %d", info.Size(), info.Mode(), size)
		}
		copied := rawFile(t, target)
		have := column(t, copied, `SELECT id FROM jobs`)
		slices.Sort(have)
		for _, id := range before {
			if _, there := slices.BinarySearch(have, id); !there {
				t.Errorf("%s was answered before backup %d, and is not in it", id, i)
			}
		}
		for what, query := range map[string]string{
			"jobs without their event":          `SELECT id FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM events e WHERE e.job_id = j.id AND e.type = 'job.queued')`,
			"half of a submit":                  `SELECT count(*) FROM jobs GROUP BY created_at HAVING count(*) % 2`,
			"cancelled jobs that hold credits":  `SELECT j.id FROM jobs j JOIN holds h ON h.job_id = j.id WHERE (j.status = 'cancelled') <> (h.state = 'released')`,
			"a balance that is not its account": `SELECT held FROM (SELECT held FROM journals ORDER BY id DESC LIMIT 1) WHERE held <> (SELECT sum(credits) FROM holds WHERE state = 'held')`,
			"a journal mode that needs a log":   `SELECT * FROM pragma_journal_mode WHERE journal_mode <> 'delete'`,
		} {
			if wrong := column(t, copied, query); len(wrong) > 0 {
				t.Errorf("backup %d has %s: %v", i, what, wrong)
			}
		}
		if left := names(t, filepath.Dir(target)); !slices.Equal(left, []string{"copy.db"}) {
			t.Errorf("beside the copy: %v", left)
		}
	}
	close(stop)
	all.Wait()
}

// A copy opens as a store of its own.
func TestBackup_IsAStore(t *testing.T) {
	f := open(t)
	job := f.submit(t)
	dir := t.TempDir()
	_, err := f.Backup(ctx, filepath.Join(dir, "rendermac.db"))
	must(t, err)
	other := storetest.MustOpen(t, storetest.Options(dir, f.clock))
	if j, err := other.JobByID(ctx, job); err != nil || j.ID != job {
		t.Errorf("the job in the copy: %+v, %v", j, err)
	}
}

// What cannot be a backup leaves everything as it was, and says what to do.
func TestBackup_RefusesAndLeavesNothing(t *testing.T) {
	f := open(t)
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken.db")
	must(t, os.WriteFile(taken, []byte("mine"), 0o600))
	garbage := filepath.Join(t.TempDir(), "rendermac.db")
	must(t, os.WriteFile(garbage, []byte(strings.Repeat("no database ", 1000)), 0o600))
	missing := filepath.Join(dir, "nowhere", "copy.db")
	for name, c := range map[string]struct{ from, to, says string }{
		"a name that is taken": {filepath.Join(f.dir, "rendermac.db"), taken, "choose another name"},
		"no such folder":       {filepath.Join(f.dir, "rendermac.db"), missing, "cannot be written"},
		"no database":          {filepath.Join(dir, "rendermac.db"), filepath.Join(dir, "copy.db"), "--data"},
		"another file":         {garbage, filepath.Join(dir, "copy.db"), "not a database"},
	} {
		if _, err := store.Backup(ctx, c.from, c.to); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if text, err := os.ReadFile(taken); err != nil || string(text) != "mine" {
		t.Errorf("the file that was there is %q (%v)", text, err)
	}
	if left := names(t, dir); !slices.Equal(left, []string{"taken.db"}) {
		t.Errorf("left behind: %v", left)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// What a cut-off copy has left goes; what only looks like it stays.
func TestBackup_ClearsItsOwnLeftoversOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a [folder]")
	must(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"own.db.123.partial", "own.db.123.partial-journal", "holiday.mov.partial", "other.db.9.partial", "own.db"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	store.ClearPartial(dir, func(target string) bool { return target == "own.db" })
	if left := names(t, dir); !slices.Equal(left, []string{"holiday.mov.partial", "other.db.9.partial", "own.db"}) {
		t.Errorf("left are %v", left)
	}
}
