package server

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// kept are the names in the folder of backups.
func kept(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// A week of backups: one a day, the newest three kept, and nothing of anybody
// else's touched.
func TestBackups_AreMadeOnScheduleAndTheOldestGo(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "backups")
	var begun time.Time
	inBubble(t, func(b *bubble) {
		begun = time.Now()
		synctest.Wait()
		others := []string{"mine.db", BackupFile(begun.Add(-1000*time.Hour)) + ".txt", BackupFile(begun.AddDate(1, 0, 0))}
		for _, name := range others {
			if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(6*24*time.Hour + time.Hour)
		synctest.Wait()
		want := append(others, BackupFile(begun.AddDate(0, 0, 4)), BackupFile(begun.AddDate(0, 0, 5)), BackupFile(begun.AddDate(0, 0, 6)))
		slices.Sort(want)
		if got := kept(t, folder); !slices.Equal(got, want) {
			t.Errorf("kept %q, want %q", got, want)
		}
	}, func(o *Options) { o.Backups = Backups{Every: 24 * time.Hour, Keep: 3, Folder: folder} })
}

// A restart neither makes one more nor misses one, and a disk that was away gets
// its backup when it is back.
func TestBackups_GoByWhatIsThere(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	folder := filepath.Join(disk, "backups")
	inBubble(t, func(b *bubble) {
		synctest.Wait()
		if said := b.log.String(); !strings.Contains(said, "could not back the database up") || !strings.Contains(said, "mount its disk") {
			t.Fatalf("of a disk that is away it says %q", said)
		}
		if _, err := os.Stat(disk); !os.IsNotExist(err) {
			t.Fatalf("a disk that was away was made up: %v", err)
		}
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(backupRetry)
		synctest.Wait()
		if got := kept(t, folder); len(got) != 1 {
			t.Fatalf("once the disk was back: %q", got)
		}
		made := kept(t, folder)[0]
		again := &backups{srv: b.srv}
		again.runOnce(t.Context())
		if got := kept(t, folder); !slices.Equal(got, []string{made}) {
			t.Fatalf("at a restart: %q, want %q", got, made)
		}
		b.wall.set(-time.Hour) // then the backup is of a time to come, and one is due
		time.Sleep(backupNap)
		synctest.Wait()
		if got := kept(t, folder); len(got) != 2 || got[1] != made {
			t.Fatalf("after the clock was set back: %q", got)
		}
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		if got := kept(t, folder); len(got) != 2 {
			t.Fatalf("half an hour later: %q", got)
		}
		info, err := os.Stat(filepath.Join(folder, made))
		if err != nil || info.Mode().Perm() != 0o600 || info.Mode()&fs.ModeType != 0 {
			t.Errorf("%v, %v", info, err)
		}
	}, func(o *Options) { o.Backups = Backups{Every: 4 * time.Hour, Keep: 2, Folder: folder} })
}
