package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rendermac/store"
)

const (
	backupName  = "rendermac-20060102T150405Z.db"
	backupRetry = 10 * time.Minute // after one that failed
	backupNap   = time.Minute      // how long a timer is trusted: see maxNap
)

// BackupFile is the name of a backup that is made now.
func BackupFile(now time.Time) string { return now.UTC().Format(backupName) }

// Backups is when the database is copied, and where to.
type Backups struct {
	Every  time.Duration // zero: never
	Keep   int
	Folder string
}

// backups copies the database on a schedule. When it did so last is what the
// names in the folder say, so that a restart neither makes one more nor misses one.
type backups struct {
	srv   *Server
	tried time.Duration // on the clock that nobody sets; when the last try failed
	bad   bool
}

func (b *backups) loop(ctx context.Context) {
	if b.srv.o.Backups.Every == 0 {
		return
	}
	for {
		b.runOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(backupNap, b.srv.o.Backups.Every)):
		}
	}
}

// runOnce makes a backup where one is due.
func (b *backups) runOnce(ctx context.Context) {
	if b.bad && b.srv.o.Mono()-b.tried < min(backupRetry, b.srv.o.Backups.Every) {
		return
	}
	path, err := b.make(ctx)
	b.bad, b.tried = err != nil, b.srv.o.Mono()
	switch {
	case err != nil:
		b.srv.o.Log.Error("could not back the database up: it is tried again", "folder", b.srv.o.Backups.Folder, "err", err)
	case path != "":
		b.srv.o.Log.Info("database backed up", "file", path)
	}
}

// make removes old backups only once the new one is whole. Of files that it has
// not made, and of those that bear a time to come, it knows nothing.
func (b *backups) make(ctx context.Context) (path string, err error) {
	o := b.srv.o.Backups
	if err := os.Mkdir(o.Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) { // one level: a disk that is not mounted is not made up
		return "", fmt.Errorf("mount its disk, or make the folder: %w", err)
	}
	now := b.srv.o.Now()
	made, err := backupsIn(o.Folder, now)
	if err != nil || len(made) > 0 && now.Sub(made[len(made)-1]) < o.Every {
		return "", err
	}
	store.ClearPartial(o.Folder, func(name string) bool { // one of today may be somebody's `rendermac backup`
		at, err := time.Parse(backupName, name)
		return err == nil && now.Sub(at) > 24*time.Hour
	})
	path = filepath.Join(o.Folder, BackupFile(now))
	if _, err := b.srv.o.DB.Backup(ctx, path); err != nil {
		return "", err
	}
	for ; len(made) >= o.Keep; made = made[1:] {
		if err := os.Remove(filepath.Join(o.Folder, BackupFile(made[0]))); err != nil {
			return path, fmt.Errorf("an old backup cannot be removed: %w", err)
		}
	}
	return path, nil
}

// backupsIn are the times of the backups in a folder up to now, the oldest first.
func backupsIn(folder string, now time.Time) (made []time.Time, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		at, err := time.Parse(backupName, e.Name())
		if err == nil && !at.After(now) && strings.EqualFold(e.Name(), BackupFile(at)) && e.Type().IsRegular() {
			made = append(made, at)
		}
	}
	slices.SortFunc(made, time.Time.Compare)
	return made, err
}
