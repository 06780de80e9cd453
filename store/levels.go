package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Levels is how full everything is at one moment.
type Levels struct {
	At       time.Time
	Queue    []QueueDepth
	Devices  map[string]int // by state
	Webhooks map[string]int // pending and failed
}

// Levels reads what the metrics show of the rows.
func (db *DB) Levels(ctx context.Context) (Levels, error) {
	l := Levels{At: db.o.Now(), Devices: map[string]int{}, Webhooks: map[string]int{}}
	err := db.read(ctx, func(q querier) (err error) {
		if l.Queue, err = q.queue(""); err != nil {
			return err
		}
		if err := q.counts(l.Devices, `SELECT `+deviceState+` AS state, count(*) FROM devices d GROUP BY state`); err != nil {
			return err
		}
		return q.counts(l.Webhooks, `SELECT 'pending', count(*) FROM webhook_deliveries WHERE state = 'pending'
			UNION ALL SELECT 'failed', count(*) FROM webhook_deliveries WHERE state = 'failed'`)
	})
	return l, err
}

func (q querier) counts(into map[string]int, query string) error {
	return q.each(query, nil, func(rows *sql.Rows) error {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		into[name] = n
		return err
	})
}

// Files is how large the database's files are, and what room their disk has, in
// bytes.
type Files struct{ Database, WAL, Free int64 }

// Files looks at the disk alone: it answers also while the database does not.
func (db *DB) Files() (Files, error) {
	var f Files
	main, err := os.Stat(db.o.Path)
	if err != nil {
		return f, err
	}
	f.Database = main.Size()
	if wal, err := os.Stat(db.o.Path + "-wal"); err == nil { // it is there while the database is open
		f.WAL = wal.Size()
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(db.o.Path), &disk); err != nil {
		return f, err
	}
	f.Free = int64(disk.Bavail) * int64(disk.Bsize)
	return f, nil
}

// SQLite is the version of the engine.
func (db *DB) SQLite(ctx context.Context) (version string, err error) {
	err = db.read(ctx, func(q querier) error { return q.one(`SELECT sqlite_version()`, nil, &version) })
	return version, err
}
