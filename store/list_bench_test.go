package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rendermac/store"
	"rendermac/store/storetest"

	"github.com/oklog/ulid/v2"
	"modernc.org/sqlite"
)

var listStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// listID is the nth job's id: one a second.
func listID(n int64) string {
	var id ulid.ULID
	_ = id.SetTime(uint64(listStart.UnixMilli() + n*1000))
	return strings.ToLower(id.String())
}

// fillList makes a million finished jobs, of which few are of each rare kind.
func fillList(b *testing.B, dir string) {
	b.Helper()
	sqlite.MustRegisterDeterministicScalarFunction("list_id", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		return listID(args[0].(int64)), nil
	})
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
	queries := []string{}
	for _, trigger := range column(b, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		queries = append(queries, "DROP TRIGGER "+trigger)
	}
	numbers := fmt.Sprintf(`WITH RECURSIVE k (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k WHERE n < %d) `, finished)
	queries = append(queries, `INSERT INTO accounts (id, name, webhook_secret, created_at) VALUES ('acc_small', 'small', 'whsec_', 0)`,
		numbers+`INSERT INTO jobs (id, account_id, status, service, params, resolved, needs, priority, max_attempts, webhook_events, output_name, output_ext, content_type, labels, attempts, created_at, started_at, finished_at)
			SELECT 'job_' || list_id(n), CASE WHEN n % 100 = 0 THEN 'acc_small' ELSE account_id END, CASE WHEN n % 10000 = 0 THEN 'failed' ELSE 'succeeded' END,
				CASE WHEN n % 5000 = 1 THEN 'rare.service' ELSE service END, params, resolved, needs, priority, max_attempts, webhook_events, 'interview-' || n || '.mp4', output_ext, content_type,
				CASE WHEN n % 1000 = 2 THEN '{"client":"acme"}' ELSE '{"client":"studio","reel":"' || n || '"}' END, 1, `+fmt.Sprint(listStart.UnixMilli())+` + n * 1000, 1, 1 FROM k, (SELECT * FROM jobs LIMIT 1)`,
		numbers+`INSERT INTO job_inputs (job_id, position, upload_id) SELECT 'job_' || list_id(n), 0, (SELECT id FROM uploads LIMIT 1) FROM k`,
		numbers+`INSERT INTO job_attempts (id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at, output_key, leased_at, ended_at)
			SELECT 'att_' || list_id(n), 'job_' || list_id(n), 1, 'succeeded', CASE WHEN n % 2000 = 3 THEN rare ELSE usual END, 1, commit_token_hash, 0, 'k', 1, 1 FROM k, (SELECT commit_token_hash FROM job_attempts LIMIT 1), (SELECT min(id) AS usual, max(id) AS rare FROM devices)`,
		store.Triggers(), "PRAGMA wal_checkpoint(TRUNCATE)", "ANALYZE")
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			b.Fatalf("%s: %v", q, err)
		}
	}
}

// BenchmarkList is a page of 50 out of a million jobs, by every filter, in
// milliseconds and against the page without a filter.
func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	fillList(b, dir)
	db := storetest.MustOpen(b, storetest.Options(dir, storetest.NewClock()))
	ctx := context.Background()
	devices, err := db.Devices(ctx, []string{"online", "offline"}, "", callers)
	if err != nil {
		b.Fatal(err)
	}
	macs := []string{devices[0].ID, devices[len(devices)-1].ID}
	hour := listStart.Add(finished / 2 * time.Second)
	labels := func(k, v string) [][2]string { return [][2]string{{k, v}} }
	plain := 0.0
	for _, c := range []struct {
		name string
		f    store.JobFilter
	}{
		{"all", store.JobFilter{}},
		{"middle", store.JobFilter{Before: "job_" + listID(finished/2)}},
		{"failed", store.JobFilter{Statuses: []string{"failed"}}},
		{"failed of an account", store.JobFilter{Statuses: []string{"failed"}, AccountID: "acc_small"}},
		{"cancelled, none", store.JobFilter{Statuses: []string{"cancelled"}}},
		{"live, none", store.JobFilter{Statuses: []string{"queued", "active", "verifying", "cancelling"}}},
		{"failed and succeeded", store.JobFilter{Statuses: []string{"failed", "succeeded"}}},
		{"rare service", store.JobFilter{Service: "rare.service"}},
		{"rare service, failed", store.JobFilter{Service: "rare.service", Statuses: []string{"failed"}}},
		{"account", store.JobFilter{AccountID: "acc_small"}},
		{"account and service", store.JobFilter{AccountID: "acc_small", Service: "rare.service"}},
		{"device", store.JobFilter{DeviceID: macs[0]}},
		{"rare device", store.JobFilter{DeviceID: macs[1]}},
		{"label", store.JobFilter{Labels: labels("client", "acme")}},
		{"label, none", store.JobFilter{Labels: labels("client", "nobody")}},
		{"q", store.JobFilter{Query: "interview"}},
		{"q, none", store.JobFilter{Query: "nothing like it"}},
		{"q, an id", store.JobFilter{Query: "job_" + listID(17)}},
		{"an hour", store.JobFilter{Since: hour, Until: hour.Add(time.Hour)}},
		{"until", store.JobFilter{Until: listStart.Add(time.Hour)}},
		{"since, label, none", store.JobFilter{Since: hour, Labels: labels("client", "nobody")}},
	} {
		c.f.Limit = 50
		b.Run(c.name, func(b *testing.B) {
			n, each := 0, math.Inf(1) // the best of them: a busy machine is not the list's fault
			for b.Loop() {
				start := time.Now()
				page, err := db.Jobs(ctx, c.f)
				if err != nil {
					b.Fatal(err)
				}
				n, each = len(page.Jobs), min(each, float64(time.Since(start).Microseconds())/1000)
			}
			if plain == 0 {
				plain = each
			}
			b.ReportMetric(each, "ms/page")
			b.ReportMetric(each/plain, "×plain")
			b.ReportMetric(float64(n), "jobs")
		})
	}
}
