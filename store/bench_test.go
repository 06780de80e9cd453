package store_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

const (
	callers  = 64
	finished = 1_000_000
)

// studio is a store with 64 Macs under a clock that runs.
type studio struct {
	*store.DB
	job  store.NewJob
	macs []store.Session
}

func openStudio(b testing.TB, dir string) *studio {
	b.Helper()
	start := time.Now()
	o := storetest.Options(dir, nil)
	o.Now, o.Mono = time.Now, func() time.Duration { return time.Since(start) }
	s := &studio{DB: storetest.MustOpen(b, o)}
	account := ""
	if page, err := s.Jobs(context.Background(), store.JobFilter{Limit: 1}); err == nil && len(page.Jobs) > 0 {
		account = page.Jobs[0].AccountID // a filled database has had its first start
	} else {
		account = storetest.MustAccount(b, s.DB)
	}
	s.job = storetest.Job(account, storetest.MustUpload(b, s.DB, account))
	s.job.WebhookURL, s.job.WebhookEvents = "https://example.test/hook", []string{"job.succeeded"}
	for range callers {
		s.macs = append(s.macs, storetest.MustDevice(b, s.DB))
	}
	return s
}

// cycle is a job's whole life: submit, lease, three progress, both commits,
// each a transaction with its events and outbox rows.
func (s *studio) cycle(mac store.Session) error {
	ctx := context.Background()
	if _, err := s.Submit(ctx, s.job); err != nil {
		return err
	}
	out, err := s.Lease(ctx, mac, 1<<20)
	if err != nil {
		return err
	}
	if out.Offer == nil {
		return fmt.Errorf("no job for a Mac that just submitted one")
	}
	c := storetest.Claim(mac, out.Offer)
	for _, phase := range []fence.AttemptStatus{fence.AttemptDownloading, fence.AttemptRunning, fence.AttemptUploading} {
		if _, err := s.Progress(ctx, c, store.Report{Phase: phase}); err != nil {
			return err
		}
	}
	if _, err := s.Commit(ctx, c, result, nil); err != nil {
		return err
	}
	_, err = s.FinishCommit(ctx, c.AttemptID, fence.Verdict{Verified: true}, "", json.RawMessage(`{}`))
	return err
}

// rate is how many cycles a second 64 callers get through in a second or two.
func (s *studio) rate(b *testing.B, cycles int) float64 {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(cycles))
	var all sync.WaitGroup
	start := time.Now()
	for _, mac := range s.macs {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := s.cycle(mac); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(cycles) / time.Since(start).Seconds()
}

// BenchmarkCycle compares group commit with committing each transaction alone,
// and a database of a million finished jobs with an empty one, in one run.
func BenchmarkCycle(b *testing.B) {
	fullDir := b.TempDir()
	fill(b, fullDir, finished)
	alone, grouped, full := openStudio(b, b.TempDir()), openStudio(b, b.TempDir()), openStudio(b, fullDir)
	store.CommitEachAlone(alone.DB)
	var a, g, f float64
	rounds := 0
	for b.Loop() { // rounds take turns, so that a busy moment hits all three
		a += alone.rate(b, 400)
		g += grouped.rate(b, 4000)
		f += full.rate(b, 4000)
		rounds++
	}
	n := float64(rounds)
	b.ReportMetric(a/n, "alone_cycles/s")
	b.ReportMetric(g/n, "grouped_cycles/s")
	b.ReportMetric(f/n, "million_cycles/s")
	b.ReportMetric(g/a, "grouped/alone")
	b.ReportMetric(f/g, "million/empty")
}

// fill makes a database with n finished jobs behind it. The rows are written
// past the triggers, which are made anew afterwards.
func fill(b testing.TB, dir string, n int) {
	b.Helper()
	s := openStudio(b, dir)
	if err := s.cycle(s.macs[0]); err != nil {
		b.Fatal(err)
	}
	s.Close()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "rendermac.db")+"?_pragma=synchronous(off)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range fillQueries(b, db, n) {
		if _, err := db.Exec(q); err != nil {
			b.Fatalf("%s: %v", q, err)
		}
	}
	// What was written past every fsync must not be on its way to the disk while
	// someone measures.
	file, err := os.OpenFile(filepath.Join(dir, "rendermac.db"), os.O_RDWR, 0)
	if err == nil {
		err = file.Sync()
		file.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
}

// fillQueries multiply the one finished job in every table it has rows in.
func fillQueries(b testing.TB, db *sql.DB, n int) []string {
	b.Helper()
	var queries []string
	for _, trigger := range column(b, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		queries = append(queries, "DROP TRIGGER "+trigger)
	}
	replace := map[string]string{
		"id": `substr(id, 1, 4) || '00' || printf('%024d', n)`, "job_id": `'job_00' || printf('%024d', n)`,
		"attempt_id": `'att_00' || printf('%024d', n)`, "object_key": `object_key || n`, "output_key": `output_key || n`,
	}
	for _, table := range []string{"jobs", "job_inputs", "job_attempts", "artifact_grants", "artifacts", "webhook_deliveries", "events"} {
		var names, values []string
		for _, c := range column(b, db, `SELECT name FROM pragma_table_info('`+table+`')`) {
			if table == "events" && c == "id" {
				continue
			}
			names = append(names, c)
			if v, ok := replace[c]; ok {
				c = v
			}
			values = append(values, c)
		}
		queries = append(queries, fmt.Sprintf(`WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < %d)
			INSERT INTO %s (%s) SELECT %s FROM k, (SELECT * FROM %s LIMIT %s)`,
			n, table, strings.Join(names, ", "), strings.Join(values, ", "), table, map[bool]string{true: "4", false: "1"}[table == "events"]))
	}
	return append(queries, store.Triggers(), "PRAGMA wal_checkpoint(TRUNCATE)", "ANALYZE")
}

func column(b testing.TB, db interface {
	Query(query string, args ...any) (*sql.Rows, error)
}, query string,
) []string {
	b.Helper()
	rows, err := db.Query(query)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			b.Fatal(err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return out
}
