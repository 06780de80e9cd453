// Package store is the control plane's one SQLite file: the schema, the one
// writer, and a verb per file. A verb opens the transaction, loads, lets fence
// decide, writes rows, event and webhook row, and answers with an outcome. It
// sends nothing and wakes nobody.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"rendermac/failpoint"
	"rendermac/fence"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Codes of the store's own refusals, beside those of fence.
const (
	CodeUnavailable    = "store_unavailable" // the batch was lost: nothing is assumed
	CodeStorageFull    = "storage_full"
	CodeNewerDatabase  = "newer_database"
	CodeCreditExceeded = "credit_exhausted"
)

// Options are what the store is given; Now, Mono and Rand are the only clock
// and randomness it uses.
type Options struct {
	Path         string
	Now          func() time.Time     // the wall clock
	Mono         func() time.Duration // a clock that nobody sets (F15)
	Rand         io.Reader            // secrets and ids
	LeaseTTL     time.Duration
	DeviceTTL    time.Duration
	RetryBackoff time.Duration // F12
	Resume       bool          // F14: may a returning agent go on with its runs
	Log          *slog.Logger
	Observe      func(Batch) // where set, hears of each batch
}

// DB is an open store.
type DB struct {
	o      Options
	w      *writer
	reader *sql.DB
	noting sync.Mutex // the file of revocations
}

// minSQLite is the first SQLite in which a checkpoint racing a commit cannot
// corrupt the file.
const minSQLite = "3.51.3"

// readLimit bounds every read, so that none holds the WAL for long.
const readLimit = 2 * time.Second

// Open opens the database, creating or migrating it as needed, and settles what
// the server's absence has left (F15).
func Open(ctx context.Context, o Options) (*DB, error) {
	if err := finishRestore(o.Path); err != nil {
		return nil, fmt.Errorf("finish the restore of %s: %w", o.Path, err)
	}
	if err := prepareFile(o.Path); err != nil {
		return nil, err
	}
	conn, err := openWriter(ctx, o.Path)
	var refused *sqlite.Error
	if errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_NOTADB {
		return nil, fmt.Errorf("%s is not a RenderMac database: move it away, or name another data directory with --data", o.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", o.Path, err)
	}
	failpoint.At("store.migrate.before")
	if err := migrate(ctx, conn, o.Path); err != nil {
		conn.close()
		return nil, err
	}
	db := &DB{o: o, reader: openReader(o.Path)}
	db.w = startWriter(conn, o)
	if err := db.recover(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("recover the database %s: %w", o.Path, err)
	}
	return db, db.Optimize(ctx)
}

// Optimize lets SQLite look at what its planner should know: at open, and daily.
// Samples of values are thrown away: with them SQLite looks at each bound value,
// and prepares every statement anew for every execution.
func (db *DB) Optimize(ctx context.Context) error {
	return db.w.do(ctx, func(t *tx) error {
		for _, query := range []string{"PRAGMA analysis_limit=400", "PRAGMA optimize=0x10002"} {
			if err := t.exec(query); err != nil {
				return err
			}
		}
		var sampled bool
		err := t.one(`SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat4')`, nil, &sampled)
		if err != nil || !sampled {
			return err
		}
		if err := t.exec("DELETE FROM sqlite_stat4"); err != nil {
			return err
		}
		return t.exec("ANALYZE sqlite_schema")
	})
}

// Close lets what is waiting in line finish, then closes the file.
func (db *DB) Close() error {
	return errors.Join(db.reader.Close(), db.w.stop())
}

// Broken is closed when the file can no longer be trusted: stop serving, exit,
// and let a restart recover.
func (db *DB) Broken() <-chan struct{} { return db.w.broken }

// Unsettled says that jobs have ended whose dependents do not all know yet: Sweep
// goes on.
func (db *DB) Unsettled() <-chan struct{} { return db.w.unsettled }

// Outbox says that a webhook was queued, or is due at another time than it was.
func (db *DB) Outbox() <-chan struct{} { return db.w.outbox }

// prepareFile makes the database file, readable by its owner only.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("create the data directory: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	failpoint.At("store.file.after")
	return f.Close()
}

// dsn builds a file: URI; without that prefix SQLite ignores mode=ro silently.
func dsn(path, query string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
}

type conn struct {
	db *sql.DB
	*sql.Conn
}

func (c *conn) close() error { return errors.Join(c.Conn.Close(), c.db.Close()) }

func openWriter(ctx context.Context, path string) (*conn, error) {
	pragmas := "_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)" +
		"&_pragma=temp_store(memory)" + // savepoints keep their pages in memory, not in a temp file
		"&_pragma=cache_size(-16384)&_pragma=wal_autocheckpoint(4000)" + // 16 MiB each
		"&_pragma=fullfsync(1)&_pragma=foreign_keys(1)&_pragma=recursive_triggers(1)" +
		"&_pragma=journal_size_limit(67108864)"
	return openConn(ctx, path, pragmas)
}

// openConn opens the one connection that writes a file.
func openConn(ctx context.Context, path, pragmas string) (*conn, error) {
	db, err := sql.Open("sqlite", dsn(path, pragmas))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	c, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	var version string
	if err := c.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		(&conn{db, c}).close()
		return nil, err
	}
	if older(version, minSQLite) {
		(&conn{db, c}).close()
		return nil, fmt.Errorf("this build has SQLite %s, which may corrupt its file: build it with %s or newer", version, minSQLite)
	}
	return &conn{db, c}, nil
}

// older compares dotted versions.
func older(v, than string) bool {
	var a, b [3]int
	fmt.Sscanf(v, "%d.%d.%d", &a[0], &a[1], &a[2])
	fmt.Sscanf(than, "%d.%d.%d", &b[0], &b[1], &b[2])
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

func openReader(path string) *sql.DB {
	db, err := sql.Open("sqlite", dsn(path, "mode=ro&_pragma=busy_timeout(2000)"))
	if err != nil { // only an unknown driver name gets here
		panic(err)
	}
	db.SetMaxOpenConns(4)
	db.SetMaxIdleConns(4)
	return db
}

// read runs fn against one consistent view of the database, for two seconds at
// the most.
func (db *DB) read(ctx context.Context, fn func(q querier) error) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	tx, err := db.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return unavailable(err)
	}
	defer tx.Rollback()
	err = fn(querier{
		run:    func(q string, args ...any) (*sql.Rows, error) { return tx.QueryContext(ctx, q, args...) },
		failed: func(err error) error { return err },
	})
	if errors.Is(err, sql.ErrNoRows) {
		return &fence.Error{Code: fence.CodeNotFound, Message: "there is no such thing here"}
	}
	if err != nil && fence.CodeOf(err) == "" {
		return unavailable(err)
	}
	return err
}

func unavailable(err error) error {
	return &fence.Error{Code: CodeUnavailable, Message: "the database could not be used just now: try again (" + firstLine(err) + ")"}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func notFound(what string) error {
	return &fence.Error{Code: fence.CodeNotFound, Message: "there is no such " + what}
}
