package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"rendermac/failpoint"
	"rendermac/fence"

	"github.com/oklog/ulid/v2"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// tx is the writer's transaction as a closure sees it.
type tx struct {
	querier
	o     Options
	conn  *conn
	stmts map[string]*sql.Stmt
	now   time.Time // as the closure starts: wall at the batch's start, and what has passed since
	wall  time.Time // both clocks at the start of the batch (F15)
	mono  time.Duration
	fatal error // after it, nothing more is executed on this transaction
	ids   *ulid.MonotonicEntropy
	idMS  uint64

	telling  bool // see tellDependents
	told     int  // of maxTold, in this transaction
	more     bool // jobs are still to be told
	outbox   bool // there is something to deliver, or another time for it
	appended bool // events, in this transaction
}

func newTx(c *conn, o Options) *tx {
	t := &tx{o: o, conn: c, stmts: map[string]*sql.Stmt{}, ids: ulid.Monotonic(o.Rand, 0)}
	t.querier = querier{t.query, t.failed}
	return t
}

func (t *tx) begin() error {
	t.fatal, t.told, t.more, t.outbox, t.appended = nil, 0, false, false, false
	return t.exec("BEGIN IMMEDIATE")
}

func (t *tx) commit() error {
	failpoint.At("store.commit.before")
	err := t.exec("COMMIT")
	failpoint.At("store.commit.after")
	return err
}

func (t *tx) rollback() {
	t.fatal = nil
	_ = t.exec("ROLLBACK") // SQLite may have done it already
}

// savepoint runs fn; its own error undoes fn alone, lost says that the whole
// transaction is gone.
func (t *tx) savepoint(fn func(*tx) error) (own, lost error) {
	if err := t.exec("SAVEPOINT closure"); err != nil {
		return nil, err
	}
	// Not the wall clock anew: it may have been set, or the machine have slept,
	// after the batch has moved the leases with it (F15).
	t.now = t.wall.Add(t.o.Mono() - t.mono).UTC().Truncate(time.Millisecond)
	own = t.call(fn)
	if t.fatal == nil && own != nil {
		lost = t.exec("ROLLBACK TO closure")
	}
	if t.fatal == nil && lost == nil {
		lost = t.exec("RELEASE closure")
	}
	return own, cmpErr(t.fatal, lost)
}

// call turns a panic of fn into its error: a mistake in one closure undoes that
// one, as an error of its own would, and the writer goes on.
func (t *tx) call(fn func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.o.Log.Error("a transaction panicked", "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("the transaction panicked: %v", p)
		}
	}()
	return fn(t)
}

// stmt prepares each query once: worth a third of the throughput.
func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if s, ok := t.stmts[query]; ok {
		return s, nil
	}
	s, err := t.conn.PrepareContext(context.Background(), query)
	if err == nil {
		t.stmts[query] = s
	}
	return s, err
}

func (t *tx) closeStatements() {
	for _, s := range t.stmts {
		s.Close()
	}
}

func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	if t.fatal != nil {
		return nil, t.fatal
	}
	s, err := t.stmt(query)
	if err != nil {
		return nil, t.failed(err)
	}
	rows, err := s.Query(args...)
	return rows, t.failed(err)
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.affect(query, args...)
	return err
}

func (t *tx) affect(query string, args ...any) (int64, error) {
	if t.fatal != nil {
		return 0, t.fatal
	}
	s, err := t.stmt(query)
	if err != nil {
		return 0, t.failed(err)
	}
	res, err := s.Exec(args...)
	if err != nil {
		return 0, t.failed(err)
	}
	return res.RowsAffected()
}

// failed marks the transaction as lost unless err is a mere refusal of the
// statement: after any other error SQLite may have rolled back already, and the
// next statement would commit by itself.
func (t *tx) failed(err error) error {
	var e *sqlite.Error
	if err == nil || errors.As(err, &e) && (e.Code()&0xff == sqlite3.SQLITE_CONSTRAINT || e.Code()&0xff == sqlite3.SQLITE_ERROR) {
		return err
	}
	t.fatal = err
	return err
}

// change executes a compare-and-set that must hit exactly one row.
func (t *tx) change(what, query string, args ...any) error {
	n, err := t.affect(query, args...)
	if err == nil && n != 1 {
		return fmt.Errorf("%s: %d rows changed, not one", what, n)
	}
	return err
}

// id makes a typed, sortable id that grows even when the clock is set back.
func (t *tx) id(kind string) (string, error) {
	t.idMS = max(t.idMS, ulid.Timestamp(t.now))
	id, err := ulid.New(t.idMS, t.ids)
	if err != nil {
		return "", fmt.Errorf("make an id: %w", err)
	}
	return kind + "_" + strings.ToLower(id.String()), nil
}

// secret draws n bytes for a key that is not a commit token.
func (t *tx) secret(n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(t.o.Rand, b)
	return b, err
}

func (t *tx) token() (fence.Token, error) { return fence.NewToken(t.o.Rand) }
