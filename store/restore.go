package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"rendermac/failpoint"
	"rendermac/lasting"
)

// Restored says what a restore has done.
type Restored struct {
	BackupOf time.Time // the last moment that the backup knows
	Aside    string    // where the database of before is now; empty where there was none
	Unread   error     // why the database of before could not be asked for what it knew
}

// comingEnd ends the name of the copy that is being prepared.
const comingEnd = ".coming"

const restoreStamp = "20060102T150405.000Z"

// Restore puts a backup in the database's place. The server must not run. A
// backup that is refused has changed nothing.
//
// The backup is checked, and prepared for its first start, in a copy. Renaming
// that copy, to a name which says that it is ready, is the moment at which it
// becomes the database: what is left to do after a crash, finishRestore does.
func Restore(ctx context.Context, file, path string, now time.Time) (Restored, error) {
	if err := lasting.MakeFolder(filepath.Dir(path)); err != nil {
		return Restored{}, err
	}
	if err := finishRestore(path); err != nil {
		return Restored{}, err
	}
	coming := path + comingEnd
	defer removeDatabase(coming)
	if err := copyBackup(file, path, coming); err != nil {
		return Restored{}, err
	}
	c, err := openBackup(ctx, file, coming)
	if err != nil {
		return Restored{}, err
	}
	r, err := prepare(ctx, c, path, now)
	if err := errors.Join(err, c.close()); err != nil {
		return Restored{}, fmt.Errorf("prepare the copy of %s: %w", file, err)
	}
	stamp := now.UTC().Format(restoreStamp)
	if _, err := os.Lstat(path); err == nil {
		r.Aside = asideName(path, stamp)
	}
	failpoint.At("store.restore.ready.before")
	if err := os.Rename(coming, path+".restored-"+stamp); err != nil {
		return Restored{}, err
	}
	failpoint.At("store.restore.ready.after")
	return r, finishRestore(path)
}

// prepare leaves word for the first start on the backup, which fences whatever
// came after it. Here only settings are written: the schema may be an older one.
func prepare(ctx context.Context, c *conn, path string, now time.Time) (r Restored, err error) {
	backup, err := whatIsKnown(ctx, c)
	if err != nil {
		return r, err
	}
	var old known
	if old, r.Unread = knownBefore(ctx, path); r.Unread == nil {
		if err := writeRevoked(revokedFile(path), old.revoked); err != nil {
			return r, fmt.Errorf("note what was revoked: %w", err)
		}
	}
	r.BackupOf = fromMS(backup.clock)
	clock := max(backup.clock, old.clock, ms(now))
	// Where the database of before is lost, nobody knows which event ids it gave.
	// There were never a million events a second, so the microseconds since 1970
	// are past them all.
	event := max(backup.event, old.event, fromMS(clock).UnixMicro()) + 1
	err = within(ctx, c, func(ctx context.Context, c *conn) error {
		for name, value := range map[string]int64{"clock": clock, "ids": max(backup.ids, old.ids), "restored": event, adminKeyDoubtful: 0} {
			if _, err := c.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2`, name, fmt.Sprint(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	return r, checkFile(ctx, c)
}

// known is what must not be forgotten of a database that is replaced.
type known struct {
	clock, ids, event int64
	revoked           []revocation
}

func whatIsKnown(ctx context.Context, c *conn) (k known, err error) {
	q := c.querier(ctx)
	err = q.one(`SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'clock'), 0),
		coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'ids'), 0),
		max(coalesce((SELECT max(id) FROM events), 0), coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'restored'), 0))`,
		nil, &k.clock, &k.ids, &k.event)
	if err == nil {
		k.revoked, err = q.revocations()
	}
	return k, err
}

// knownBefore asks the database that is about to be replaced. Opening and closing
// it also takes its log in.
func knownBefore(ctx context.Context, path string) (k known, err error) {
	if info, err := os.Stat(path); os.IsNotExist(err) || err == nil && info.Size() == 0 { // as a first start that was cut off leaves it
		return k, nil
	}
	c, err := openWriter(ctx, path)
	if err != nil {
		return k, err
	}
	k, err = whatIsKnown(ctx, c)
	return k, errors.Join(err, c.close())
}

// databaseFiles are the endings of what belongs to a database file. Left beside
// another one, each would be taken for that one's own.
var databaseFiles = []string{"-wal", "-shm", "-journal", ""}

func removeDatabase(path string) {
	for _, end := range databaseFiles {
		_ = os.Remove(path + end)
	}
}

func asideName(path, stamp string) string { return path + ".before-restore-" + stamp }

var readyStamp = regexp.MustCompile(`^\.restored-(\d{8}T\d{6}\.\d{3}Z)$`)

// finishRestore puts a database that is ready in its place. As long as its name
// says ready, whatever has the database's own name is the one of before. A copy
// that is not ready is of a restore that was cut off, and nobody's.
func finishRestore(path string) error {
	removeDatabase(path + comingEnd)
	folder, name := filepath.Split(path)
	files, err := os.ReadDir(filepath.Clean(folder))
	if os.IsNotExist(err) {
		return nil
	}
	for _, file := range files {
		if len(file.Name()) < len(name) || file.Name()[:len(name)] != name {
			continue
		}
		if found := readyStamp.FindStringSubmatch(file.Name()[len(name):]); found != nil {
			err = errors.Join(err, swap(path, filepath.Join(folder, file.Name()), asideName(path, found[1])))
		}
	}
	return err
}

func swap(path, ready, aside string) error {
	folder := filepath.Dir(path)
	if err := lasting.Folder(folder); err != nil { // first the ready name, for good
		return err
	}
	for _, end := range databaseFiles {
		failpoint.At("store.restore.aside.before")
		if err := os.Rename(path+end, aside+end); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	failpoint.At("store.restore.aside.after")
	if err := lasting.Folder(folder); err != nil {
		return err
	}
	failpoint.At("store.restore.swap.before")
	if err := os.Rename(ready, path); err != nil {
		return err
	}
	failpoint.At("store.restore.swap.after")
	return lasting.Folder(folder)
}
