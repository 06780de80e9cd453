package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	"rendermac/failpoint"
	"rendermac/fence"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sqliteMagic begins every SQLite file.
const sqliteMagic = "SQLite format 3\x00"

// copyBackup copies what may be a backup, for its owner's eyes, and syncs it.
func copyBackup(file, path, to string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, len(sqliteMagic))
	_, _ = io.ReadFull(in, head) // what is shorter, or a folder, is none either
	if !info.Mode().IsRegular() || !bytes.Equal(head, []byte(sqliteMagic)) {
		return noBackup(file)
	}
	if present, err := os.Stat(path); err == nil && os.SameFile(info, present) {
		return fmt.Errorf("%s is the database itself: name a backup of it", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return fmt.Errorf("%s is no backup but a database that was in use, for its log is beside it (%s-wal): name a file that rendermac backup has made", file, file)
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	failpoint.At("store.restore.copy.before")
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Sync(), out.Close())
	failpoint.At("store.restore.copy.after")
	if err != nil {
		return fmt.Errorf("copy %s into the data directory: %w", file, err)
	}
	return nil
}

func noBackup(file string) error {
	return fmt.Errorf("%s is no backup of RenderMac: name a file that rendermac backup has made", file)
}

// openBackup opens the copy of a backup, without a log, and refuses what is not
// whole, not ours, or of a newer build.
func openBackup(ctx context.Context, file, coming string) (*conn, error) {
	c, err := openConn(ctx, coming, "_pragma=journal_mode(delete)&_pragma=synchronous(extra)&_pragma=fullfsync(1)&_pragma=trusted_schema(0)")
	if err != nil {
		return nil, notWhole(file, err)
	}
	if err := checkBackup(ctx, c, file); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func checkBackup(ctx context.Context, c *conn, file string) error {
	if err := checkFile(ctx, c); err != nil {
		return notWhole(file, err)
	}
	version, err := versionOf(ctx, c, file)
	if err != nil {
		return err
	}
	q := c.querier(ctx)
	var tables int
	err = q.one(`SELECT count(*) FROM sqlite_schema WHERE type = 'table'
		AND name IN ('settings', 'accounts', 'api_keys', 'devices', 'jobs', 'job_attempts', 'events')`, nil, &tables)
	if err == nil && (version == 0 || tables != 7) {
		return noBackup(file)
	}
	return err
}

func notWhole(file string, err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return noBackup(file)
	}
	if errors.As(err, &e) && e.Code()&0xff != sqlite3.SQLITE_CORRUPT {
		return fmt.Errorf("check the copy of %s: %w", file, err)
	}
	return fmt.Errorf("%s is damaged (%s): restore another backup", file, firstLine(err))
}

// versionOf is a database's version; one that this build does not know is refused.
func versionOf(ctx context.Context, c *conn, path string) (version int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the database %s: %w", path, err)
	}
	if newest := len(schemaSteps()); version > newest {
		return 0, &fence.Error{Code: CodeNewerDatabase, Message: fmt.Sprintf(
			"the database %s is of version %d and this build knows %d: install the newer RenderMac that made it, or restore a backup of this one", path, version, newest)}
	}
	return version, nil
}

// querier asks outside of any transaction.
func (c *conn) querier(ctx context.Context) querier {
	return querier{
		run:    func(query string, args ...any) (*sql.Rows, error) { return c.QueryContext(ctx, query, args...) },
		failed: func(err error) error { return err },
	}
}
