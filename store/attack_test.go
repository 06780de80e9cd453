package store_test

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"rendermac/fence"
	"rendermac/store"
	"rendermac/store/storetest"
)

// attack is what someone tries past the server, with any SQLite, and the one
// trigger that stops it; "" is the table itself.
type attack struct{ trigger, query string }

// In braces stand the rows of invaded.
var attacks = []attack{
	// A settled job, or one under way, put anywhere else.
	{"jobs_move", `UPDATE jobs SET status = 'queued' WHERE id = '{cancelled}'`},
	{"jobs_move", `UPDATE OR REPLACE jobs SET status = 'active' WHERE id = '{won}'`},
	{"jobs_start", `INSERT OR REPLACE INTO jobs SELECT * FROM jobs WHERE id = '{won}'`},
	{"jobs_start", `REPLACE INTO jobs (rowid, {jobcolumns}) SELECT (SELECT rowid FROM jobs WHERE id = '{live}'), 'job_x', account_id, {jobrest} FROM jobs WHERE id = '{queued}'`},
	{"jobs_start", `INSERT INTO jobs ({jobcolumns}) SELECT 'job_x', account_id, {jobrest} FROM jobs WHERE id = '{won}'`},
	{"jobs_keep", `DELETE FROM jobs WHERE id = '{live}'`},
	{"jobs_keep", `DELETE FROM jobs WHERE id = '{committing}'`},
	{"jobs_keep", `DELETE FROM jobs WHERE id = '{queued}'`},
	{"jobs_same", `UPDATE jobs SET id = 'job_x' WHERE id = '{queued}'`},
	{"jobs_same", `UPDATE OR REPLACE jobs SET id = '{live}' WHERE id = '{won}'`},
	{"jobs_same", `UPDATE OR REPLACE jobs SET rowid = (SELECT rowid FROM jobs WHERE id = '{live}') WHERE id = '{won}'`},
	{"jobs_same", `UPDATE OR REPLACE jobs SET _rowid_ = (SELECT rowid FROM jobs WHERE id = '{live}') WHERE id = '{won}'`},
	{"jobs_same", `UPDATE OR REPLACE jobs SET oid = (SELECT rowid FROM jobs WHERE id = '{live}') WHERE id = '{won}'`},
	{"jobs_same", `UPDATE jobs SET resolved = '{}' WHERE id = '{live}'`},
	{"jobs_same", `UPDATE jobs SET max_attempts = 10 WHERE id = '{queued}'`},
	{"jobs_needs", `UPDATE jobs SET needs = '{}' WHERE id = '{queued}'`},
	{"jobs_needs", `UPDATE jobs SET needs = '{}' WHERE id = '{live}'`},
	{"jobs_read", `UPDATE jobs SET reading = 0 WHERE id = '{unread}'`},
	{"jobs_read", `UPDATE jobs SET reading = 1 WHERE id = '{read}'`},
	{"jobs_place", `UPDATE jobs SET priority = 100 WHERE id = '{live}'`},
	{"jobs_place", `UPDATE jobs SET priority = 100 WHERE id = '{failed}'`},
	{"jobs_settled", `UPDATE jobs SET failure_code = 'no_capacity' WHERE id = '{failed}'`},
	{"jobs_settled", `UPDATE jobs SET failure_message = NULL WHERE id = '{failed}'`},
	{"jobs_settled", `UPDATE jobs SET finished_at = NULL WHERE id = '{won}'`},
	{"jobs_settled", `UPDATE jobs SET attempts = 0 WHERE id = '{failed}'`},
	{"jobs_let_go", `UPDATE jobs SET status = 'queued' WHERE id = '{live}'`},
	{"jobs_let_go", `UPDATE jobs SET status = 'failed' WHERE id = '{committing}'`},
	{"jobs_ready", `UPDATE jobs SET status = 'active' WHERE id = '{waiting}'`},
	{"jobs_ready", `UPDATE jobs SET status = 'active' WHERE id = '{unread}'`},
	{"jobs_succeed", `UPDATE jobs SET status = 'succeeded' WHERE id = '{unpublished}'`},
	{"job_inputs_same", `UPDATE job_inputs SET upload_id = '{upload}', input_job_id = NULL WHERE job_id = '{waiting}'`},
	{"job_inputs_same", `UPDATE job_inputs SET path = 'media/other.mov', bytes = 1, sha256 = '{hash}' WHERE job_id = '{unread}'`},
	{"job_inputs_same", `UPDATE job_inputs SET stamp = 'x' WHERE job_id = '{unread}'`},
	{"job_inputs_same", `UPDATE job_inputs SET sha256 = '{hash}' WHERE job_id = '{read}'`},
	{"job_inputs_same", `UPDATE job_inputs SET bytes = 1, sha256 = '{hash}' WHERE job_id = '{forgone}'`},
	{"job_inputs_start", `INSERT INTO job_inputs (job_id, position, path, bytes, sha256) VALUES ('{unread}', 1, 'media/b.mov', 1, '{hash}')`},
	{"job_inputs_start", `INSERT OR REPLACE INTO job_inputs (job_id, position, upload_id) VALUES ('{waiting}', 0, '{upload}')`},
	{"job_inputs_start", `INSERT INTO job_inputs (job_id, position, upload_id) VALUES ('{live}', 1, '{upload}')`},
	{"job_inputs_keep", `DELETE FROM job_inputs WHERE job_id = '{waiting}'`},

	// Attempts.
	{"job_attempts_move", `UPDATE job_attempts SET status = 'leased' WHERE id = '{failed.attempt}'`},
	{"job_attempts_move", `UPDATE job_attempts SET status = 'running' WHERE id = '{live.attempt}'`},
	{"job_attempts_start", `INSERT INTO job_attempts {attemptcolumns} VALUES ('att_x', '{again}', 2, 'leased', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT INTO job_attempts {attemptcolumns} VALUES ('att_x', '{idle}', 1, 'succeeded', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT INTO job_attempts {attemptcolumns} VALUES ('att_x', '{idle}', 1, 'leased', '{mac}', 7, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT INTO job_attempts {attemptcolumns} VALUES ('att_x', '{idle}', 2, 'leased', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT INTO job_attempts {attemptcolumns} VALUES ('att_x', '{idle}', 1, 'leased', '{mac}', 1, '{nohash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT OR REPLACE INTO job_attempts {attemptcolumns} VALUES ('{live.attempt}', '{idle}', 1, 'leased', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT OR REPLACE INTO job_attempts {attemptcolumns} VALUES ('att_x', '{live}', 1, 'leased', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_start", `INSERT OR REPLACE INTO job_attempts (rowid, id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at, output_key, leased_at)
		VALUES ((SELECT rowid FROM job_attempts WHERE id = '{live.attempt}'), 'att_x', '{idle}', 1, 'leased', '{mac}', 1, '{hash}', 0, 'k', 0)`},
	{"job_attempts_keep", `DELETE FROM job_attempts WHERE id = '{live.attempt}'`},
	{"job_attempts_keep", `DELETE FROM job_attempts WHERE id = '{committing.attempt}'`},
	{"job_attempts_same", `UPDATE job_attempts SET id = 'att_x' WHERE id = '{live.attempt}'`},
	{"job_attempts_same", `UPDATE job_attempts SET job_id = '{won}', attempt_number = 2 WHERE id = '{live.attempt}'`},
	{"job_attempts_same", `UPDATE job_attempts SET device_id = '{other}' WHERE id = '{live.attempt}'`},
	{"job_attempts_same", `UPDATE job_attempts SET output_key = 'k' WHERE id = '{committing.attempt}'`},
	{"job_attempts_same", `UPDATE OR REPLACE job_attempts SET rowid = (SELECT rowid FROM job_attempts WHERE id = '{live.attempt}') WHERE id = '{won.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET lease_epoch = 1 WHERE id = '{live.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET lease_epoch = 9 WHERE id = '{live.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET commit_token_hash = '{hash}' WHERE id = '{live.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET lease_epoch = 9, commit_token_hash = '{nohash}' WHERE id = '{live.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET lease_epoch = 9, commit_token_hash = '{hash}' WHERE id = '{committing.attempt}'`},
	{"job_attempts_epoch", `UPDATE job_attempts SET lease_epoch = 9, commit_token_hash = '{hash}' WHERE id = '{failed.attempt}'`},
	{"job_attempts_claim", `UPDATE job_attempts SET claimed_sha256 = '{hash}' WHERE id = '{committing.attempt}'`},
	{"job_attempts_claim", `UPDATE job_attempts SET claimed_bytes = 1 WHERE id = '{won.attempt}'`},
	{"job_attempts_claim", `UPDATE job_attempts SET verify_started_at = NULL WHERE id = '{committing.attempt}'`},
	{"job_attempts_settled", `UPDATE job_attempts SET ended_at = NULL WHERE id = '{won.attempt}'`},
	{"job_attempts_settled", `UPDATE job_attempts SET failure_code = 'lease_expired' WHERE id = '{failed.attempt}'`},
	{"job_attempts_settled", `UPDATE job_attempts SET prev_epoch = 1, prev_hash = '{hash}' WHERE id = '{failed.attempt}'`},
	{"", `UPDATE job_attempts SET commit_token_hash = '0', lease_epoch = 9 WHERE id = '{live.attempt}'`},
	{"", `INSERT INTO jobs (id, {jobrest}) SELECT NULL, {jobrest} FROM jobs WHERE id = '{queued}'`},
	{"", `UPDATE OR REPLACE jobs SET status = NULL WHERE id = '{queued}'`},

	// Grants, artifacts, uploads.
	{"artifact_grants_start", `INSERT INTO artifact_grants (attempt_id, object_key, part_bytes) SELECT id, output_key, 1 FROM job_attempts WHERE id = '{ungranted.attempt}'`},
	{"artifact_grants_start", `INSERT OR REPLACE INTO artifact_grants (attempt_id, object_key, part_bytes) SELECT id, output_key, 1 FROM job_attempts WHERE id = '{live.attempt}'`},
	{"artifact_grants_closed", `UPDATE artifact_grants SET bytes = 1 WHERE attempt_id = '{committing.attempt}'`},
	{"artifact_grants_closed", `UPDATE artifact_grants SET sha256 = NULL WHERE attempt_id = '{won.attempt}'`},
	{"artifact_grants_closed", `UPDATE artifact_grants SET object_key = 'k' WHERE attempt_id = '{live.attempt}'`},
	{"artifact_grants_keep", `DELETE FROM artifact_grants WHERE attempt_id = '{live.attempt}'`},
	{"artifacts_start", `INSERT OR REPLACE INTO artifacts SELECT * FROM artifacts WHERE job_id = '{won}'`},
	{"artifacts_start", `INSERT INTO artifacts (job_id, attempt_id, object_key, bytes, sha256, created_at) VALUES ('{live}', '{live.attempt}', 'k', 4, '{hash}', 0)`},
	{"artifacts_start", `INSERT INTO artifacts (job_id, attempt_id, object_key, bytes, sha256, created_at)
		SELECT job_id, id, output_key, claimed_bytes + 1, claimed_sha256, 0 FROM job_attempts WHERE id = '{committing.attempt}'`},
	{"artifacts_same", `UPDATE artifacts SET sha256 = '{hash}' WHERE job_id = '{won}'`},
	{"artifacts_same", `UPDATE artifacts SET attempt_id = '{failed.attempt}' WHERE job_id = '{won}'`},
	{"artifacts_deleted", `UPDATE artifacts SET deleted_at = NULL WHERE job_id = '{erased}'`},
	{"artifacts_keep", `DELETE FROM artifacts WHERE job_id = '{won}'`},
	{"uploads_start", `INSERT OR REPLACE INTO uploads (id, account_id, name, bytes, part_bytes, status, object_key, created_at)
		SELECT id, account_id, name, 0, 1, 'open', object_key, 0 FROM uploads WHERE id = '{upload}'`},
	{"uploads_complete", `UPDATE uploads SET status = 'open' WHERE id = '{upload}'`},
	{"uploads_complete", `UPDATE uploads SET sha256 = NULL WHERE id = '{upload}'`},
	{"uploads_complete", `UPDATE uploads SET status = 'complete' WHERE id = '{goneUpload}'`},
	{"uploads_deleted", `UPDATE uploads SET deleted_at = NULL WHERE id = '{goneUpload}'`},
	{"job_inputs_there", `INSERT INTO job_inputs (job_id, position, upload_id) VALUES ('{queued}', 1, '{goneUpload}')`},
	{"job_inputs_there", `INSERT INTO job_inputs (job_id, position, input_job_id) VALUES ('{queued}', 1, '{erased}')`},

	// Credits.
	{"holds_start", `INSERT OR REPLACE INTO holds SELECT job_id, account_id, 1, 'held', created_at, NULL FROM holds WHERE job_id = '{won}'`},
	{"holds_start", `INSERT INTO holds SELECT '{idle}', account_id, 1, 'captured', created_at, 0 FROM holds WHERE job_id = '{won}'`},
	{"holds_settle", `UPDATE holds SET state = 'released' WHERE job_id = '{won}'`},
	{"holds_settle", `UPDATE holds SET state = 'captured' WHERE job_id = '{live}'`},
	{"holds_settle", `UPDATE holds SET settled_at = NULL WHERE job_id = '{won}'`},
	{"holds_settle", `UPDATE holds SET credits = 1 WHERE job_id = '{live}'`},
	{"holds_keep", `DELETE FROM holds WHERE job_id = '{live}'`},
	{"journals_no_update", `UPDATE journals SET amount = 1`},
	{"journals_no_delete", `DELETE FROM journals`},
	{"journals_append", `INSERT OR REPLACE INTO journals SELECT * FROM journals LIMIT 1`},
	{"journals_append", `INSERT INTO journals SELECT -9, at, account_id, job_id, kind, debit, credit, amount, held, spent FROM journals LIMIT 1`},
	{"journals_append", `INSERT INTO journals {movement} VALUES (0, '{account}', 'capture', 'held', 'spent', 5, 0, 0)`},
	{"journals_append", `INSERT INTO journals {movement} SELECT 0, '{account}', 'capture', 'held', 'spent', 5, held - 5, spent FROM journals ORDER BY id DESC LIMIT 1`},
	{"journals_append", `INSERT INTO journals {movement} SELECT 0, '{account}', 'hold', 'available', 'held', 5, held + 4, spent FROM journals ORDER BY id DESC LIMIT 1`},
	{"journals_append", `INSERT INTO journals {movement} SELECT 0, '{account}', 'release', 'spent', 'available', 5, held, spent - 5 FROM journals ORDER BY id DESC LIMIT 1`},
	{"", `INSERT INTO journals {movement} SELECT 0, '{account}', 'hold', 'available', 'held', 0, held, spent FROM journals ORDER BY id DESC LIMIT 1`},
	{"", `INSERT INTO journals {movement} SELECT 0, '{account}', 'release', 'held', 'available', held + 1, -1, spent FROM journals ORDER BY id DESC LIMIT 1`},

	// History.
	{"events_no_update", `UPDATE events SET type = 'x'`},
	{"events_keep", `DELETE FROM events`},
	{"events_keep", `DELETE FROM events WHERE id = (SELECT max(id) FROM events)`},
	{"events_append", `INSERT OR REPLACE INTO events SELECT * FROM events LIMIT 1`},
	{"events_append", `INSERT INTO events SELECT 0, at, type, account_id, job_id, attempt_id, device_id, data FROM events LIMIT 1`},

	// Webhooks.
	{"webhook_deliveries_same", `UPDATE webhook_deliveries SET body = '{}'`},
	{"webhook_deliveries_same", `UPDATE webhook_deliveries SET url = 'https://example.org/'`},
	{"webhook_deliveries_same", `UPDATE OR REPLACE webhook_deliveries SET id = 'whd_x'`},

	// Devices.
	{"devices_start", `INSERT OR REPLACE INTO devices (id, name, token_hash, paired_at) SELECT id, name, token_hash, 0 FROM devices WHERE id = '{revoked}'`},
	{"devices_start", `INSERT OR REPLACE INTO devices (id, name, token_hash, paired_at) SELECT 'dev_x', name, token_hash, 0 FROM devices WHERE id = '{revoked}'`},
	{"devices_same", `UPDATE devices SET token_hash = '{hash}' WHERE id = '{revoked}'`},
	{"devices_revoked", `UPDATE devices SET revoked_at = NULL WHERE id = '{revoked}'`},
	{"devices_revoked", `UPDATE devices SET session_id = 'ses_x', online = 1 WHERE id = '{revoked}'`},
	{"devices_keep", `DELETE FROM devices WHERE id = '{mac}'`},

	// Keys.
	{"api_keys_start", `INSERT OR REPLACE INTO api_keys {keycolumns} SELECT id, account_id, '', 'admin', '{hash}', 0 FROM api_keys WHERE id = '{goneKey}'`},
	{"api_keys_start", `INSERT OR REPLACE INTO api_keys {keycolumns} SELECT 'key_x', account_id, '', 'admin', key_hash, 0 FROM api_keys WHERE id = '{goneKey}'`},
	{"api_keys_same", `UPDATE api_keys SET scope = 'admin' WHERE id = '{goneKey}'`},
	{"api_keys_same", `UPDATE api_keys SET key_hash = '{hash}' WHERE id = '{goneKey}'`},
	{"api_keys_same", `UPDATE OR REPLACE api_keys SET rowid = 1 WHERE id = '{goneKey}'`},
	{"api_keys_revoked", `UPDATE api_keys SET revoked_at = NULL WHERE id = '{goneKey}'`},
}

// invaded is a database with a row of every kind, opened by someone else.
func invaded(t *testing.T) (db *sql.DB, names *strings.Replacer) {
	t.Helper()
	f := open(t)
	priced := func(j *store.NewJob) {
		j.Credits, j.WebhookURL, j.WebhookEvents = 5, "https://example.test/hook", []string{"job.cancelled"}
	}
	lease := func() fence.Claim {
		f.submit(t, priced)
		return storetest.Claim(f.mac, storetest.MustLease(t, f.DB, f.mac))
	}
	won, failed, committing, unpublished := f.commits(t, lease()), lease(), f.commits(t, lease()), f.commits(t, lease())
	_, err := f.FinishCommit(ctx, won.AttemptID, fence.Verdict{Verified: true}, "", nil)
	must(t, err)
	_, err = f.Fail(ctx, failed, fence.RunnerFailed, "no")
	must(t, err)
	erased := f.commits(t, lease())
	f.succeeds(t, erased)
	goneUpload, err := f.CreateUpload(ctx, store.NewUpload{AccountID: f.account, Name: "gone.mov", Bytes: 4, PartBytes: 4})
	must(t, err)
	again := lease()
	_, err = f.Fail(ctx, again, fence.InternalError, "no")
	must(t, err)
	live := lease() // again's Mac waits out its backoff
	hello := storetest.MustHello(t, f.DB, f.mac.DeviceID, live)
	f.mac, live.SessionID, live.Epoch = hello.Session, hello.SessionID, hello.Resumptions[0].Epoch
	must(t, f.progress(live, fence.AttemptUploading))
	ungranted, idle := lease(), f.submit(t)
	cancelled := f.submit(t, priced)
	_, err = f.Cancel(ctx, cancelled)
	must(t, err)
	queued := f.submit(t, priced)
	waiting := f.submit(t, func(j *store.NewJob) { j.Inputs = []store.NewInput{{JobID: queued}} })
	unread, read, forgone := f.submit(t, byPath), f.submit(t, byPath), f.submit(t, byPath)
	f.read(t, read)
	_, err = f.Cancel(ctx, forgone)
	must(t, err)
	revoked := storetest.MustDevice(t, f.DB).DeviceID
	_, err = f.Revoke(ctx, revoked)
	must(t, err)
	other := storetest.MustPair(t, f.DB, "other").DeviceID
	goneKey, _, err := f.CreateKey(ctx, store.NewKey{AccountID: f.account, Name: "gone", Scope: "read"})
	must(t, err)
	must(t, f.RevokeKey(ctx, goneKey.ID))

	db = f.raw(t)
	for _, setUp := range []string{
		`PRAGMA foreign_keys = OFF`, // as in SQLite's own shell
		`UPDATE artifacts SET deleted_at = 1 WHERE job_id = '` + erased.JobID + `'`,
		`UPDATE uploads SET deleted_at = 1 WHERE id = '` + goneUpload.ID + `'`,
		`UPDATE jobs SET status = 'active', attempts = 1 WHERE id = '` + idle + `'`,
		`UPDATE job_attempts SET status = 'failed', ended_at = 1 WHERE id = '` + unpublished.AttemptID + `'`,
		`UPDATE job_attempts SET status = 'failed', ended_at = 1 WHERE id = '` + ungranted.AttemptID + `'`,
		`DELETE FROM artifact_grants WHERE attempt_id = '` + ungranted.AttemptID + `'`,
	} {
		must(t, exec(db, setUp))
	}
	columns := column(t, db, `SELECT name FROM pragma_table_info('jobs') ORDER BY name <> 'id', name <> 'account_id', cid`)
	return db, strings.NewReplacer(
		"{won}", won.JobID, "{won.attempt}", won.AttemptID, "{failed}", failed.JobID, "{failed.attempt}", failed.AttemptID,
		"{committing}", committing.JobID, "{committing.attempt}", committing.AttemptID, "{unpublished}", unpublished.JobID,
		"{again}", again.JobID, "{live}", live.JobID, "{live.attempt}", live.AttemptID, "{ungranted.attempt}", ungranted.AttemptID,
		"{idle}", idle, "{cancelled}", cancelled, "{queued}", queued, "{waiting}", waiting, "{unread}", unread, "{read}", read, "{forgone}", forgone,
		"{upload}", f.upload,
		"{erased}", erased.JobID, "{goneUpload}", goneUpload.ID,
		"{mac}", f.mac.DeviceID, "{other}", other, "{revoked}", revoked, "{account}", f.account, "{goneKey}", goneKey.ID,
		"{movement}", `(at, account_id, kind, debit, credit, amount, held, spent)`, "{keycolumns}", `(id, account_id, name, scope, key_hash, created_at)`,
		"{hash}", strings.Repeat("0", 64), "{nohash}", strings.Repeat("x", 64),
		"{jobcolumns}", strings.Join(columns, ", "), "{jobrest}", strings.Join(columns[2:], ", "),
		"{attemptcolumns}", `(id, job_id, attempt_number, status, device_id, lease_epoch, commit_token_hash, lease_expires_at, output_key, leased_at)`,
	)
}

// Every attack is stopped, by the one trigger that is there for it; and no
// trigger is there for nothing.
func TestTheDatabaseGuardsItself(t *testing.T) {
	db, names := invaded(t)
	tried := map[string]bool{"jobs_move": true}
	for _, a := range attacks {
		tried[a.trigger] = true
		query := names.Replace(a.query)
		if n, err := try(t, db, "", query); err == nil {
			t.Errorf("the database took %s (%d rows)", query, n)
		} else if !strings.Contains(err.Error(), "constraint failed") {
			t.Errorf("%s: %v", query, err)
		}
		if a.trigger == "" {
			continue
		}
		if n, err := try(t, db, a.trigger, query); err != nil || n == 0 {
			t.Errorf("not %s alone stops %s: without it %d rows, %v", a.trigger, query, n, err)
		}
	}
	for _, trigger := range column(t, db, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		if !tried[trigger] {
			t.Errorf("no attack is stopped by %s", trigger)
		}
	}
}

// try runs an attack on a database without one of its triggers, and takes all of
// it back.
func try(t *testing.T, db *sql.DB, without, query string) (int64, error) {
	t.Helper()
	tx, err := db.Begin()
	must(t, err)
	defer tx.Rollback()
	if without != "" {
		must(t, exec(tx, "DROP TRIGGER "+without))
	}
	done, err := tx.Exec(query)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

func exec(db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, query string,
) error {
	_, err := db.ExecContext(ctx, query)
	return err
}

// What is below the horizon goes, and nothing else.
func TestEventsGoBelowTheHorizonOnly(t *testing.T) {
	f := open(t)
	f.committing(t)
	db := f.raw(t)
	ids := column(t, db, `SELECT id FROM events ORDER BY id`)
	must(t, exec(db, `INSERT INTO settings (name, value) VALUES ('events_horizon', '`+ids[2]+`')`))
	must(t, exec(db, `DELETE FROM events WHERE id < `+ids[2]))
	for _, more := range []string{ids[2], ids[len(ids)-1]} {
		if exec(db, `DELETE FROM events WHERE id = `+more) == nil {
			t.Errorf("event %s was deleted", more)
		}
	}
	if left := column(t, db, `SELECT id FROM events ORDER BY id`); !slices.Equal(left, ids[2:]) {
		t.Errorf("left %v of %v", left, ids)
	}
	must(t, exec(db, `UPDATE settings SET value = '1000000' WHERE name = 'events_horizon'`))
	if exec(db, `DELETE FROM events WHERE id = `+ids[len(ids)-1]) == nil {
		t.Error("the newest event was deleted: its id would be given again")
	}
}

// A start has the triggers of its build, whatever it finds.
func TestTriggersAreMadeAnewAtEveryStart(t *testing.T) {
	f := open(t)
	db := f.raw(t)
	want := column(t, db, `SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`)
	must(t, exec(db, `DROP TRIGGER jobs_move`))
	must(t, exec(db, `CREATE TRIGGER old BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'an older rule'); END`))
	must(t, db.Close())
	must(t, storetest.MustOpen(t, storetest.Options(f.dir, f.clock)).Close())
	got := column(t, rawAt(t, f.dir), `SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`)
	if !slices.Equal(got, want) {
		t.Errorf("triggers %q, want %q", got, want)
	}
}
