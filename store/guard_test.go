package store_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"rendermac/fence"
	"rendermac/store/storetest"
)

// raw opens a second connection to the fixture's database, as a tool would. The
// store is closed first.
func (f *fixture) raw(t *testing.T) *sql.DB {
	t.Helper()
	must(t, f.Close())
	return rawAt(t, f.dir)
}

func rawAt(t testing.TB, dir string) *sql.DB {
	t.Helper()
	return rawFile(t, filepath.Join(dir, "rendermac.db"))
}

func rawFile(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

// Every ordered pair of statuses is walked through Go and through SQL, and both
// say the same.
func TestStatusTables_GoAndSQLAreEqual(t *testing.T) {
	f := open(t)
	c := f.lease(t)
	db := f.raw(t)
	var triggers []string
	rows, err := db.Query(`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%_move'`)
	must(t, err)
	for rows.Next() {
		var name string
		must(t, rows.Scan(&name))
		triggers = append(triggers, name)
	}
	must(t, rows.Err())
	if len(triggers) != 2 {
		t.Fatalf("triggers that guard a move: %v", triggers)
	}
	walk(t, db, "jobs", c.JobID, fence.JobStatuses, fence.JobStatus.MayBecome)
	walk(t, db, "job_attempts", c.AttemptID, fence.AttemptStatuses, fence.AttemptStatus.MayBecome)
}

func walk[S ~string](t *testing.T, db *sql.DB, table, id string, all []S, may func(S, S) bool) {
	t.Helper()
	for _, from := range all {
		for _, to := range all {
			tx, err := db.Begin()
			must(t, err)
			// No trigger stands in the way while the row is put into from, and only
			// the status table's own afterwards.
			var guard string
			must(t, tx.QueryRow(`SELECT sql FROM sqlite_schema WHERE name = ?`, table+"_move").Scan(&guard))
			for _, trigger := range column(t, tx, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
				must(t, exec(tx, "DROP TRIGGER "+trigger))
			}
			must(t, exec(tx, fmt.Sprintf("UPDATE %s SET status = '%s' WHERE id = '%s'", table, from, id)))
			must(t, exec(tx, guard))
			_, err = tx.Exec("UPDATE "+table+" SET status = ? WHERE id = ?", to, id)
			if want := from == to || may(from, to); want != (err == nil) {
				t.Errorf("%s %s → %s: SQL says %v, Go says %v", table, from, to, err, want)
			}
			must(t, tx.Rollback())
		}
	}
}

func TestTheSchemaIsWhatToolsRelyOn(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	for _, table := range []string{
		"accounts", "api_keys", "sessions", "devices", "pairing_codes", "uploads", "upload_parts", "jobs", "job_inputs", "job_attempts",
		"artifact_grants", "attempt_logs", "artifacts", "holds", "journals", "events", "webhook_deliveries", "idempotency_keys", "settings",
		"settlements", "discards", "webhook_lanes", "sign_in_links",
	} {
		var strict bool
		if err := db.QueryRow(`SELECT strict FROM pragma_table_list WHERE name = ? AND type = 'table'`, table).Scan(&strict); err != nil || !strict {
			t.Errorf("table %s: strict %v, %v", table, strict, err)
		}
	}
	for _, column := range strings.Fields(`id job_id attempt_number status device_id lease_epoch commit_token_hash prev_epoch prev_hash lease_expires_at
		phase fraction claimed_bytes claimed_sha256 verify_started_at failure_code failure_message output_key`) {
		if _, err := db.Exec("SELECT " + column + " FROM job_attempts"); err != nil {
			t.Error(err)
		}
	}
	var journal string
	must(t, db.QueryRow("PRAGMA journal_mode").Scan(&journal))
	if journal != "wal" {
		t.Errorf("journal mode %s", journal)
	}
}

// The plaintext of a commit token stands in no row.
func TestTheTokenIsInNoRow(t *testing.T) {
	f := open(t)
	c := f.committing(t)
	again := storetest.MustHello(t, f.DB, f.mac.DeviceID, c)
	if len(again.Resumptions) != 1 {
		t.Fatal("no answer")
	}
	db := f.raw(t)
	tables, err := db.Query(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
	must(t, err)
	var names []string
	for tables.Next() {
		var n string
		must(t, tables.Scan(&n))
		names = append(names, n)
	}
	for _, n := range names {
		rows, err := db.Query("SELECT * FROM " + n)
		must(t, err)
		columns, err := rows.Columns()
		must(t, err)
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(sql.NullString)
			}
			must(t, rows.Scan(values...))
			for i, v := range values {
				if strings.Contains(v.(*sql.NullString).String, c.Token) {
					t.Errorf("%s.%s holds the token", n, columns[i])
				}
			}
		}
		must(t, rows.Err())
	}
}
