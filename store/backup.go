package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"rendermac/failpoint"
	"rendermac/lasting"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// partial ends the name of a copy that is not whole.
const partial = ".partial"

// Backup writes a consistent copy of the database file to target, which must not
// be there yet, and answers with its length. A server may be at work on the file,
// in this process or another. The copy is one file, for its owner's eyes only (it
// holds signing keys), and has target's name only once it is whole, checked and
// on the disk.
func Backup(ctx context.Context, path, target string) (int64, error) {
	if _, err := os.Stat(path); err != nil {
		return 0, fmt.Errorf("there is no database %s: name the server's data directory with --data", path)
	}
	if _, err := os.Lstat(target); err == nil {
		return 0, fmt.Errorf("%s is there already: choose another name, or move it away", target)
	}
	temp, err := os.CreateTemp(filepath.Dir(target), filepath.Base(target)+".*"+partial) // 0600
	if err != nil {
		return 0, fmt.Errorf("the copy cannot be written: %w", err)
	}
	temp.Close()
	defer removePartial(temp.Name())
	if err := copyDatabase(ctx, path, temp.Name()); err != nil {
		return 0, err
	}
	return keep(temp.Name(), target)
}

// Backup is a copy of the database that this store has open.
func (db *DB) Backup(ctx context.Context, target string) (int64, error) {
	return Backup(ctx, db.o.Path, target)
}

// ClearPartial removes from a folder what copies that were cut off have left
// there: those whose target is the caller's own, and that nobody is making.
func ClearPartial(folder string, own func(target string) bool) {
	left, _ := os.ReadDir(folder) // what cannot be read is left there
	for _, file := range left {
		name, isPartial := strings.CutSuffix(file.Name(), partial)
		target := strings.TrimSuffix(name, filepath.Ext(name))
		if isPartial && target != name && own(target) {
			removePartial(filepath.Join(folder, file.Name()))
		}
	}
}

// removePartial also takes what SQLite may have laid beside the copy.
func removePartial(path string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
}

// keep gives a whole copy its name, for good.
func keep(temp, target string) (int64, error) {
	f, err := os.Open(temp)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return 0, fmt.Errorf("the copy cannot be written: %w", err)
	}
	failpoint.At("store.backup.before")
	if err := os.Rename(temp, target); err != nil {
		return 0, err
	}
	failpoint.At("store.backup.after")
	return info.Size(), lasting.Folder(filepath.Dir(target))
}

// copyDatabase copies all pages in one step, and so in one read transaction:
// stepping would start over after every write. It is the only read that may last
// longer than readLimit.
func copyDatabase(ctx context.Context, path, temp string) error {
	db, err := sql.Open("sqlite", dsn(path, "mode=rw&_pragma=busy_timeout(5000)&_pragma=query_only(1)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var bytes int64
	err = db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&bytes)
	if err != nil {
		return fmt.Errorf("read the database %s: %w", path, err)
	}
	c, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("read the database %s: %w", path, err)
	}
	defer c.Close()
	err = c.Raw(func(driver any) error { return copyPages(driver, temp) })
	if err == nil {
		err = finishCopy(ctx, temp)
	}
	var e *sqlite.Error
	if errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code()&0xff == sqlite3.SQLITE_IOERR) {
		return fmt.Errorf("the copy could not be written to %s, where it needs %d MiB: free some space there, or choose another folder (%w)",
			filepath.Dir(temp), bytes>>20+1, err)
	}
	return err
}

// copyPages writes to a file that only its name will make count: SQLite need not
// guard it.
func copyPages(driver any, temp string) error {
	source, ok := driver.(interface {
		NewBackup(string) (*sqlite.Backup, error)
	})
	if !ok {
		return errors.New("this SQLite makes no copies")
	}
	b, err := source.NewBackup(dsn(temp, "_pragma=journal_mode(off)&_pragma=synchronous(off)"))
	if err != nil {
		return err
	}
	_, err = b.Step(-1)
	return cmpErr(err, b.Finish()) // Finish says the same again
}

// finishCopy makes the copy one file that any SQLite can read, also where it
// cannot write, and checks it whole.
func finishCopy(ctx context.Context, temp string) error {
	db, err := sql.Open("sqlite", dsn(temp, "mode=rw&_pragma=journal_mode(delete)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	return checkFile(ctx, db)
}

// checkFile looks through a whole database file for damage.
func checkFile(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("the database is damaged (%s)", verdict)
	}
	var orphans int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&orphans); err != nil {
		return err
	}
	if orphans > 0 {
		return fmt.Errorf("the database is damaged (%d rows point at nothing)", orphans)
	}
	return nil
}
