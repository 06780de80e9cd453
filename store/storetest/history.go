package storetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"rendermac/fence"
	"rendermac/store"

	"github.com/oklog/ulid/v2"
)

// history writes rows past the triggers, which the next start makes anew.
type history struct {
	testing.TB
	*sql.Tx
	statements map[string]*sql.Stmt
	account    string
	devices    []string
}

// MustHistory fills a database that nobody has open with the day before now: so
// many jobs of its first account, spread over all of its devices. One in thirty,
// the newest, is queued; the others have ended in every way there is, some of
// them at a second attempt.
func MustHistory(tb testing.TB, path string, now time.Time, jobs int) {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=synchronous(off)&_pragma=foreign_keys(1)")
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	h := &history{TB: tb, statements: map[string]*sql.Stmt{}}
	if h.Tx, err = db.Begin(); err != nil {
		tb.Fatal(err)
	}
	for _, trigger := range h.column(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		if _, err := h.Exec("DROP TRIGGER " + trigger); err != nil {
			tb.Fatal(err)
		}
	}
	h.account, h.devices = h.column(`SELECT min(id) FROM accounts`)[0], h.column(`SELECT id FROM devices ORDER BY id`)
	pause := store.Day / time.Duration(jobs)
	for n := range jobs {
		h.job(n, now.Add(-store.Day+time.Duration(n)*pause), jobs-n <= jobs/30)
	}
	if err := h.Commit(); err != nil {
		tb.Fatal(err)
	}
}

func (h *history) column(query string) (values []string) {
	h.Helper()
	rows, err := h.Query(query)
	if err != nil {
		h.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			h.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

// insert adds a row; columns are separated by commas, and of one table always
// the same.
func (h *history) insert(table, columns string, values ...any) {
	h.Helper()
	s := h.statements[table]
	if s == nil {
		var err error
		s, err = h.Prepare("INSERT INTO " + table + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", len(values)-1) + ")")
		if err != nil {
			h.Fatal(err)
		}
		h.statements[table] = s
	}
	if _, err := s.Exec(values...); err != nil {
		h.Fatalf("a row of %s: %v", table, err)
	}
}

func (h *history) event(at time.Time, kind, job string, attempt, device any, data string) {
	h.insert("events", "at, type, account_id, job_id, attempt_id, device_id, data", at.UnixMilli(), kind, h.account, job, attempt, device, data)
}

const says = "The file ends early: 4:12 of 8:00 could be read. Upload it again, or submit with damaged_input: accept"

func (h *history) job(n int, created time.Time, queued bool) {
	h.Helper()
	id := historyID(created, n)
	needs, err := json.Marshal(fence.Needs{Service: "ffmpeg.transcode"})
	if err != nil {
		h.Fatal(err)
	}
	status, attempts, code, message := "succeeded", 1, any(nil), any(nil)
	var started, finished any
	switch {
	case queued:
		status, attempts = "queued", 0
	case n%25 == 7:
		status, code, message = "failed", fence.InputFailed, says
	case n%40 == 3:
		status = "cancelled"
	}
	if !queued && n%30 == 11 {
		attempts = 2
	}
	run := 100*time.Second + time.Duration(n*37%100)*time.Second
	if !queued {
		started, finished = created.Add(30*time.Second).UnixMilli(), created.Add(30*time.Second+time.Duration(attempts)*run).UnixMilli()
	}
	h.insert("uploads", "id, account_id, name, bytes, sha256, part_bytes, status, object_key, media, created_at, completed_at",
		"upl_"+id, h.account, fmt.Sprintf("reel-%05d.mov", n), 1<<30+n, store.HashSecret(id), 8<<20, "complete", "uploads/"+id, `{"container":"mov"}`, created.UnixMilli(), created.UnixMilli())
	h.insert("jobs", `id, account_id, status, service, params, resolved, needs, priority, max_attempts, webhook_events, output_name, output_ext,
		content_type, labels, attempts, failure_code, failure_message, created_at, started_at, finished_at`,
		"job_"+id, h.account, status, "ffmpeg.transcode", `{"preset":"web-1080p"}`, `{"preset":"web-1080p"}`, string(needs), 0, 3, "[]", fmt.Sprintf("reel-%05d.mp4", n), "mp4",
		"video/mp4", fmt.Sprintf(`{"client":"acme","reel":"%d"}`, n/100), attempts, code, message, created.UnixMilli(), started, finished)
	h.insert("job_inputs", "job_id, position, upload_id", "job_"+id, 0, "upl_"+id)
	h.event(created, "job.queued", "job_"+id, nil, nil, "{}")
	for a := range attempts {
		ended := status
		if a+1 < attempts {
			ended = "lost"
		}
		h.attempt(id, a+1, ended, h.devices[(n+a)%len(h.devices)], created.Add(30*time.Second+time.Duration(a)*run), run, code, message)
	}
}

func (h *history) attempt(id string, number int, status, device string, leased time.Time, run time.Duration, code, message any) {
	h.Helper()
	job, attempt, ended := "job_"+id, fmt.Sprintf("att_%s%d", id[:25], number), leased.Add(run)
	phases := []string{"attempt.leased", "attempt.downloading", "attempt.running", "attempt.uploading", "job.verifying"}
	if status != "succeeded" {
		phases = phases[:3]
	}
	h.insert("job_attempts", `id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at, phase, fraction, fps,
		verify_started_at, failure_code, failure_message, output_key, leased_at, ended_at`,
		attempt, job, number, status, device, 1, store.HashSecret(attempt), ended.UnixMilli(), "running", 1.0, 118.0,
		ended.Add(-time.Second).UnixMilli(), code, message, "artifacts/"+attempt, leased.UnixMilli(), ended.UnixMilli())
	for i, phase := range phases {
		h.event(leased.Add(time.Duration(i)*run/5), phase, job, attempt, device, "{}")
	}
	switch status {
	case "succeeded":
		h.insert("artifacts", "job_id, attempt_id, object_key, bytes, sha256, media, created_at", job, attempt, "artifacts/"+attempt, 1<<27, store.HashSecret(attempt), `{"container":"mp4"}`, ended.UnixMilli())
	case "lost":
		h.event(ended, "job.requeued", job, attempt, device, `{"failure_code":"lease_expired"}`)
		return
	}
	h.event(ended, "job."+status, job, attempt, device, "{}")
}

// historyID is the id that a ULID of that time would be, of the nth.
func historyID(at time.Time, n int) string {
	var id ulid.ULID
	_ = id.SetTime(uint64(at.UnixMilli()))
	id[14], id[15] = byte(n>>8), byte(n)
	return strings.ToLower(id.String())
}
