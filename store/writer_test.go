package store

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"rendermac/fence"
)

func openBare(t *testing.T) *DB {
	t.Helper()
	start := time.Now()
	db, err := Open(context.Background(), Options{
		Path: filepath.Join(t.TempDir(), "x y.db"), Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Rand: rand.Reader,
		LeaseTTL: time.Minute, DeviceTTL: time.Minute, RetryBackoff: time.Second, Resume: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func set(name string) func(*tx) error {
	return func(t *tx) error { return t.exec(`INSERT INTO settings (name, value) VALUES (?, '1')`, name) }
}

func (db *DB) has(t *testing.T, name string) bool {
	t.Helper()
	var found bool
	err := db.read(context.Background(), func(q querier) error {
		return q.one(`SELECT EXISTS (SELECT 1 FROM settings WHERE name = ?)`, []any{name}, &found)
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// hold makes the writer busy until it is let go, so that a test decides what
// shares the next batch.
func (db *DB) hold(t *testing.T) (letGo func()) {
	t.Helper()
	running, free, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		_ = db.w.do(context.Background(), func(*tx) error { close(running); <-free; return nil })
	}()
	<-running
	return func() { close(free); <-done }
}

// queued waits until so many closures wait in line.
func (db *DB) queued(n int) {
	for len(db.w.in) < n {
		runtime.Gosched() // the line has no signal
	}
}

func TestWriter_AContextThatEndsInLineWithdraws(t *testing.T) {
	db := openBare(t)
	letGo := db.hold(t)
	ctx, cancel := context.WithCancel(context.Background())
	answered := make(chan error)
	go func() { answered <- db.w.do(ctx, set("withdrawn")) }()
	db.queued(1)
	cancel()
	if err := <-answered; fence.CodeOf(err) != CodeUnavailable {
		t.Fatalf("got %v", err)
	}
	letGo()
	if db.has(t, "withdrawn") {
		t.Fatal("a withdrawn closure ran")
	}
}

func TestWriter_OneThatErrsUndoesItselfAlone(t *testing.T) {
	db := openBare(t)
	letGo := db.hold(t)
	own := errors.New("my own")
	var wrong, right error
	var all sync.WaitGroup
	all.Go(func() {
		wrong = db.w.do(context.Background(), func(t *tx) error {
			if err := set("wrong")(t); err != nil {
				return err
			}
			return own
		})
	})
	all.Go(func() { right = db.w.do(context.Background(), set("right")) })
	db.queued(2)
	letGo()
	all.Wait()
	if !errors.Is(wrong, own) || right != nil || db.has(t, "wrong") || !db.has(t, "right") {
		t.Fatalf("errors %v and %v; wrong there %v, right there %v", wrong, right, db.has(t, "wrong"), db.has(t, "right"))
	}
}

func TestWriter_ALostTransactionIsLostForTheWholeBatch(t *testing.T) {
	db := openBare(t)
	letGo := db.hold(t)
	var errs [2]error
	var all sync.WaitGroup
	all.Go(func() { errs[0] = db.w.do(context.Background(), set("neighbour")) })
	db.queued(1)
	all.Go(func() {
		errs[1] = db.w.do(context.Background(), func(t *tx) error {
			t.fatal = errors.New("the disk went away")
			return set("more")(t)
		})
	})
	db.queued(2)
	letGo()
	all.Wait()
	for i, err := range errs {
		if fence.CodeOf(err) != CodeUnavailable {
			t.Errorf("caller %d was told %v", i, err)
		}
	}
	if db.has(t, "neighbour") || db.has(t, "more") {
		t.Error("something of a lost batch is there")
	}
	if err := db.w.do(context.Background(), set("after")); err != nil || !db.has(t, "after") {
		t.Errorf("the writer does not go on: %v", err)
	}
}

func TestWriter_StopLetsTheLineFinish(t *testing.T) {
	db := openBare(t)
	letGo := db.hold(t)
	answered := make(chan error, 1)
	go func() { answered <- db.w.do(context.Background(), set("last")) }()
	db.queued(1)
	stopped := make(chan error)
	go func() { stopped <- db.Close() }()
	letGo()
	if err := <-answered; err != nil {
		t.Fatalf("a closure in line at the stop: %v", err)
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if err := db.w.do(context.Background(), set("late")); fence.CodeOf(err) != CodeUnavailable {
		t.Fatalf("after the stop: %v", err)
	}
}
