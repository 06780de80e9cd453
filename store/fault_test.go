package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"
	"testing"

	"rendermac/fence"
)

// A mistake in one closure is its caller's error, undone to the last row, and
// nobody else's.
func TestWriter_APanicUndoesItsOwnClosureAlone(t *testing.T) {
	db := openBare(t)
	letGo := db.hold(t)
	var wrong, right error
	var all sync.WaitGroup
	all.Go(func() {
		wrong = db.w.do(context.Background(), func(t *tx) error {
			if err := set("wrong")(t); err != nil {
				return err
			}
			return t.each(`SELECT name FROM settings`, nil, func(*sql.Rows) error { panic("a mistake") })
		})
	})
	all.Go(func() { right = db.w.do(context.Background(), set("right")) })
	db.queued(2)
	letGo()
	all.Wait()
	if wrong == nil || right != nil || db.has(t, "wrong") || !db.has(t, "right") {
		t.Fatalf("errors %v and %v; wrong there %v, right there %v", wrong, right, db.has(t, "wrong"), db.has(t, "right"))
	}
	if err := db.w.do(context.Background(), set("after")); err != nil {
		t.Fatal(err)
	}
}

// Another process that holds the write lock makes callers wait, then try again.
func TestWriter_ABusyFileIsUnavailableAndComesBack(t *testing.T) {
	db := openBare(t)
	err := db.w.do(context.Background(), func(t *tx) error { return t.exec("PRAGMA busy_timeout=0") })
	if err != nil {
		t.Fatal(err)
	}
	other, err := openWriter(context.Background(), db.o.Path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if err := other.exec(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if err := db.w.do(context.Background(), set("busy")); fence.CodeOf(err) != CodeUnavailable {
		t.Fatalf("got %v", err)
	}
	if err := other.exec(context.Background(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := db.w.do(context.Background(), set("free")); err != nil || db.has(t, "busy") {
		t.Fatalf("%v; a refused row is there: %v", err, db.has(t, "busy"))
	}
	select {
	case <-db.Broken():
		t.Fatal("a busy file is taken for a broken one")
	default:
	}
}

// A file that can no longer be read, as found out between two rows of a query,
// costs the batch and stops the store.
func TestWriter_AFileThatCannotBeReadStopsTheStore(t *testing.T) {
	db := openBare(t)
	err := db.w.do(context.Background(), func(t *tx) error { // in the order of their names, and of their pages
		return t.exec(`WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < 2000)
			INSERT INTO settings (name, value) SELECT printf('filler %05d', n), hex(zeroblob(100)) FROM k`)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA shrink_memory"} { // what is read next is read from the file
		if err := db.w.tx.conn.exec(context.Background(), query); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(db.o.Path)
	if err == nil {
		err = os.Truncate(db.o.Path, info.Size()-info.Size()/8)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	err = db.w.do(context.Background(), func(t *tx) error {
		if t.each(`SELECT value FROM settings ORDER BY name`, nil, func(*sql.Rows) error { rows++; return nil }) == nil {
			return nil
		}
		return errors.New("a closure that makes something else of it")
	})
	if fence.CodeOf(err) != CodeUnavailable || rows == 0 {
		t.Fatalf("after %d rows: %v", rows, err)
	}
	select {
	case <-db.Broken():
	default:
		t.Fatal("the store goes on with a file that it cannot read")
	}
}
