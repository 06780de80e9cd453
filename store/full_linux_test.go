package store_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// smallDisk is a disk of its own, with a file on it that can be removed to make
// room.
func smallDisk(t *testing.T) (dir, ballast string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("a disk of its own takes root: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, 0)) })
	ballast = filepath.Join(dir, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 2<<20), 0o600))
	return dir, ballast
}

// On a full disk new work is refused as such, what was acknowledged is there,
// what was refused is not, reads go on, and space is all it takes to go on.
func TestAFullDiskRefusesNewWorkAndLosesNone(t *testing.T) {
	dir, ballast := smallDisk(t)
	f := &fixture{clock: storetest.NewClock(), dir: dir}
	f.DB = storetest.MustOpen(t, storetest.Options(dir, f.clock))
	f.account = storetest.MustAccount(t, f.DB)
	f.upload = storetest.MustUpload(t, f.DB, f.account)
	big := storetest.Job(f.account, f.upload)
	big.Resolved = json.RawMessage(`"` + strings.Repeat("x", 20<<10) + `"`)
	var mu sync.Mutex
	var stored []string
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				ids, err := f.Submit(ctx, big)
				if err != nil {
					if fence.CodeOf(err) != store.CodeStorageFull {
						t.Errorf("refused as %v", err)
					}
					return
				}
				mu.Lock()
				stored = append(stored, ids...)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(stored) == 0 {
		t.Fatal("nothing was ever stored")
	}
	for _, id := range stored {
		if _, err := f.JobByID(ctx, id); err != nil {
			t.Fatalf("acknowledged job %s: %v", id, err)
		}
	}
	ids, err := f.Submit(ctx, big, big)
	for ; err == nil; ids, err = f.Submit(ctx, big, big) { // a checkpoint has made room meanwhile
		stored = append(stored, ids...)
	}
	refused(t, err, store.CodeStorageFull)
	select {
	case <-f.Broken():
		t.Fatal("a full disk is taken for a broken file")
	default:
	}

	must(t, os.Remove(ballast))
	ids, err = f.Submit(ctx, big)
	must(t, err)
	stored = append(stored, ids...)
	db := f.raw(t)
	if ok := column(t, db, `PRAGMA integrity_check`); ok[0] != "ok" {
		t.Errorf("integrity check: %v", ok)
	}
	if got := column(t, db, `SELECT id FROM jobs`); len(got) != len(stored) {
		t.Errorf("%d jobs are there, %d were acknowledged", len(got), len(stored))
	}
	must(t, db.Close())
}

// A backup that does not fit says what it needs, leaves nothing, and the store
// goes on.
func TestBackup_OnAFullDiskLeavesNothing(t *testing.T) {
	f := open(t)
	big := storetest.Job(f.account, f.upload)
	big.Resolved = json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
	for range 80 {
		_, err := f.Submit(ctx, big)
		must(t, err)
	}
	disk, ballast := smallDisk(t)
	_, err := f.Backup(ctx, filepath.Join(disk, "copy.db"))
	if err == nil || !strings.Contains(err.Error(), "free some space") || strings.Count(err.Error(), "full") != 1 {
		t.Errorf("onto a full disk: %v", err)
	}
	if left := names(t, disk); len(left) != 1 || left[0] != filepath.Base(ballast) {
		t.Errorf("left behind: %v", left)
	}
	f.submit(t)
}
