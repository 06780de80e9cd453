package qualify

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"rendermac/agentproto"
)

// crashFaults are queries that find nothing in a database whose jobs have all ended.
var crashFaults = []struct{ what, query string }{
	{"the file is damaged", `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`},
	{"a row points at nothing", `SELECT "table" || ' ' || rowid FROM pragma_foreign_key_check`},
	{"a job is stuck", `SELECT id || ' ' || status FROM jobs WHERE status NOT IN ('succeeded', 'failed', 'cancelled')`},
	{"an attempt lives on", `SELECT id || ' ' || status FROM job_attempts WHERE ended_at IS NULL OR status NOT IN ('succeeded', 'failed', 'lost', 'cancelled')`},
	{"attempt numbers have a gap", `SELECT job_id FROM job_attempts GROUP BY job_id HAVING max(attempt_number) <> count(*)`},
	{"a job does not know its attempts", `SELECT id FROM jobs WHERE attempts <> (SELECT count(*) FROM job_attempts WHERE job_id = jobs.id)`},
	{"a job succeeded without its attempt, or an attempt without its job", `SELECT id FROM jobs j
		WHERE (SELECT count(*) FROM job_attempts WHERE job_id = j.id AND status = 'succeeded') <> (j.status = 'succeeded')`},
	{"an attempt came after one that succeeded", `SELECT a.id FROM job_attempts a JOIN job_attempts b ON b.job_id = a.job_id AND b.status = 'succeeded' AND b.attempt_number < a.attempt_number`},
	{"a job and its artifact disagree", `SELECT id FROM jobs j WHERE (SELECT count(*) FROM artifacts WHERE job_id = j.id) <> (j.status = 'succeeded')`},
	{"a job ended twice, or silently", `SELECT id FROM jobs j
		WHERE (SELECT group_concat(type) FROM events WHERE job_id = j.id AND type IN ('job.succeeded', 'job.failed', 'job.cancelled')) IS NOT 'job.' || j.status`},
	{"a webhook is missing or there twice", `SELECT id FROM jobs j WHERE (SELECT count(*) FROM webhook_deliveries WHERE job_id = j.id) <> (j.webhook_url IS NOT NULL)`},
	{"a hold is missing, or not settled as its job", `SELECT j.id FROM jobs j LEFT JOIN holds h ON h.job_id = j.id
		WHERE h.state IS NOT CASE j.status WHEN 'succeeded' THEN 'captured' ELSE 'released' END OR h.credits <> 3`},
	{"a hold has not two movements", `SELECT h.job_id FROM holds h WHERE (SELECT group_concat(kind) FROM (SELECT kind FROM journals WHERE job_id = h.job_id ORDER BY id))
		IS NOT 'hold,' || CASE h.state WHEN 'captured' THEN 'capture' ELSE 'release' END`},
	{"the books are wrong", `SELECT a.id FROM accounts a JOIN journals j ON j.id = (SELECT max(id) FROM journals WHERE account_id = a.id)
		WHERE j.held <> 0 OR j.spent <> (SELECT coalesce(sum(credits), 0) FROM holds WHERE account_id = a.id AND state = 'captured')`},
	{"a webhook was not delivered", `SELECT id || ' ' || state || ' ' || coalesce(last_error, '') FROM webhook_deliveries WHERE state <> 'delivered'`},
	{"right bytes were found wrong", `SELECT id || ' ' || failure_message FROM job_attempts WHERE failure_code IN ('verification_failed', 'internal_error', 'lease_expired')`},
	{"a committed attempt was lost", `SELECT id FROM job_attempts WHERE status = 'lost' AND claimed_bytes IS NOT NULL`},
	{"a job waits for one that has succeeded", `SELECT j.id FROM jobs j JOIN jobs o ON o.id = j.waiting_on WHERE j.status = 'queued' AND o.status = 'succeeded'`},
	{"a revoked device has a session", `SELECT id FROM devices WHERE revoked_at IS NOT NULL AND (online = 1 OR session_id IS NOT NULL)`},
	{"an output was not discarded", `SELECT object_key FROM discards`},
	{"dependents were not told", `SELECT job_id FROM settlements`},
}

// list reads the first column from the server's database, from outside.
func (s *crashSite) list(query string, args ...any) (values []string) {
	s.Helper()
	rows, err := s.db.Query(query, args...)
	if err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var v sql.NullString
		if err := rows.Scan(&v); err != nil {
			s.Fatal(err)
		}
		values = append(values, v.String)
	}
	if err := rows.Err(); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	return values
}

// complaints are what is wrong with the site's files, database and objects.
func (s *crashSite) complaints() (all []string) {
	s.Helper()
	for _, f := range crashFaults {
		for _, v := range s.list(f.query) {
			all = append(all, f.what+": "+v)
		}
	}
	return append(all, s.strayBytes()...)
}

// strayBytes holds the artifact store's folder against the rows.
func (s *crashSite) strayBytes() (all []string) {
	s.Helper()
	want := map[string]bool{}
	for _, row := range s.list(`SELECT object_key || ' ' || sha256 FROM artifacts WHERE deleted_at IS NULL
		UNION ALL SELECT object_key || ' ' || sha256 FROM uploads WHERE status = 'complete' AND deleted_at IS NULL`) {
		key, sum, _ := strings.Cut(row, " ")
		want[key] = true
		object, err := os.ReadFile(s.artifacts("objects", key))
		digest, _ := os.ReadFile(s.artifacts("digests", key))
		if err != nil || sha(object) != sum || strings.TrimSpace(string(digest)) != sum {
			all = append(all, fmt.Sprintf("%s has not the bytes of its row (%v)", key, err))
		}
	}
	open := map[string]bool{}
	for _, key := range s.list(`SELECT object_key FROM uploads WHERE status = 'open' AND deleted_at IS NULL`) {
		name := sha256.Sum256([]byte(key))
		open[hex.EncodeToString(name[:16])], want[key] = true, true
	}
	for _, folder := range []string{"objects", "digests"} {
		for _, key := range filesBelow(s.artifacts(folder)) {
			if !want[key] {
				all = append(all, "nobody's: "+folder+"/"+key)
			}
		}
	}
	for _, name := range filesBelow(s.artifacts("writes")) {
		if write, _, _ := strings.Cut(name, "."); !open[write] {
			all = append(all, "nobody's: writes/"+name)
		}
	}
	return all
}

func (s *crashSite) artifacts(in ...string) string {
	return filepath.Join(append([]string{s.data(), "artifacts"}, in...)...)
}

// filesBelow are all below a folder, by their paths from there.
func filesBelow(folder string) (all []string) {
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(folder, path)
			all = append(all, name)
		}
		return nil // what goes meanwhile is gone
	})
	return all
}

// settled waits until nothing is wrong any more: what a server discards, it
// discards after it has answered. What stays wrong is told.
func (s *crashSite) settled() (all []string) {
	s.Helper()
	inTime(10*time.Millisecond, func() bool { all = s.complaints(); return len(all) == 0 })
	return all
}

// kept holds what clients and Macs were told against what is there.
func (d *day) kept() (all []string) {
	d.Helper()
	complain := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	jobs := map[string]string{}
	for _, row := range d.list(`SELECT id || '|' || iif(retry_of IS NULL, '', 'retry of ') || json_extract(labels, '$.n') || '|' || status || '|' || priority FROM jobs`) {
		f := strings.Split(row, "|")
		p := d.jobs[f[1]]
		if p == nil || p.id != f[0] {
			complain("nobody has submitted %s, or twice", row)
			continue
		}
		if f[3] != fmt.Sprint(p.priority) {
			complain("its priority was to be %d: %s", p.priority, row)
		}
		jobs[f[1]] = f[2]
	}
	for label, p := range d.jobs {
		switch status := jobs[label]; {
		case status == "":
			complain("submitted and lost: %s", p.id)
		case p.cancelled && status != "cancelled":
			complain("cancelled, and yet %s: %s", status, p.id)
		case !slices.Contains(p.ends, status):
			complain("%s should be %v and is %s", p.id, p.ends, status)
		}
	}
	uploads := d.list(`SELECT id || ' ' || sha256 FROM uploads WHERE status = 'complete'`)
	for id, sum := range d.uploads {
		if !slices.Contains(uploads, id+" "+sum) {
			complain("uploaded and lost: %s", id)
		}
	}
	devices := d.list(`SELECT id || ' ' || (revoked_at IS NOT NULL) FROM devices`)
	for id, revoked := range d.devices {
		if !slices.Contains(devices, id+map[bool]string{true: " 1", false: " 0"}[revoked]) {
			complain("paired or revoked, and lost: %s", id)
		}
	}
	all = append(all, d.keptAccounts()...)
	named := d.list(`SELECT id || ' ' || name FROM devices WHERE draining = 0`)
	for id, name := range d.names {
		if !slices.Contains(named, id+" "+name) {
			complain("named and resumed, and lost: %s", id)
		}
	}
	for _, m := range d.macs {
		all = append(all, d.keptTo(m)...)
	}
	return append(all, d.heardOf()...)
}

// keptTo holds what a Mac was told of its runs against their rows.
func (d *day) keptTo(m *mac) (all []string) {
	d.Helper()
	status := map[string]string{}
	for _, row := range d.list(`SELECT id || ' ' || status FROM job_attempts`) {
		id, is, _ := strings.Cut(row, " ")
		status[id] = is
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	all = append(all, m.odd...)
	for id, r := range m.runs {
		is, wrong := status[id], false
		switch final := r.final.(type) {
		case *agentproto.CommitOK:
			wrong = is != "succeeded"
		case *agentproto.CommitRejected:
			wrong = is != "cancelled" || final.Code != "buyer_cancelled"
		case *agentproto.FailOK:
			wrong = is != "failed" && is != "cancelled"
		default:
			wrong = is == "" || r.accepted && is != "succeeded" && is != "cancelled" || r.revoked && r.status != is
		}
		if wrong {
			all = append(all, fmt.Sprintf("%s is %s, and its Mac stands at %+v", id, is, *r))
		}
	}
	return all
}
