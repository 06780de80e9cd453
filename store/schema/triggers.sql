-- The database's own guard, for whoever writes past the server: the same two
-- status tables as fence/status.go, held equal to it by a test, and what else no
-- row may do. Made anew at every start. RAISE(ABORT) undoes one statement and
-- leaves the rest of a batch alone. Each trigger has an attack in attack_test.go
-- that only it stops.
--
-- INSERT OR REPLACE fires no delete trigger by default: what exists already is
-- refused before the INSERT. UPDATE OF matches the columns a statement names, so
-- that a guard of columns which are never written costs nothing.

-- Jobs.

CREATE TRIGGER jobs_move BEFORE UPDATE OF status ON jobs
WHEN NEW.status <> OLD.status AND NOT CASE OLD.status
    WHEN 'queued'     THEN NEW.status = 'active' OR NEW.status = 'cancelled' OR NEW.status = 'failed'
    WHEN 'active'     THEN NEW.status = 'queued' OR NEW.status = 'verifying' OR NEW.status = 'cancelling' OR NEW.status = 'failed'
    WHEN 'verifying'  THEN NEW.status = 'succeeded' OR NEW.status = 'cancelling' OR NEW.status = 'failed'
    WHEN 'cancelling' THEN NEW.status = 'cancelled' OR NEW.status = 'failed'
    ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'a job may not change status that way'); END;

CREATE TRIGGER jobs_start BEFORE INSERT ON jobs
WHEN NEW.status <> 'queued' OR EXISTS (SELECT 1 FROM jobs WHERE id = NEW.id OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a job starts queued, and once'); END;

CREATE TRIGGER jobs_keep BEFORE DELETE ON jobs
WHEN OLD.status = 'queued' OR OLD.status = 'active' OR OLD.status = 'verifying' OR OLD.status = 'cancelling'
BEGIN SELECT RAISE(ABORT, 'a live job is not deleted'); END;

CREATE TRIGGER jobs_same BEFORE UPDATE OF rowid, oid, _rowid_, id, account_id, service, params, resolved, max_attempts,
  admission_deadline, output_ext, content_type, retry_of, created_at ON jobs
BEGIN SELECT RAISE(ABORT, 'what a job is never changes'); END;

-- What a device must have is known for good once all inputs have been read.
CREATE TRIGGER jobs_needs BEFORE UPDATE OF needs ON jobs
WHEN NEW.needs <> OLD.needs AND (OLD.status <> 'queued' OR OLD.reading = 0)
BEGIN SELECT RAISE(ABORT, 'what a job needs changes with the reading of its inputs only'); END;

CREATE TRIGGER jobs_read BEFORE UPDATE OF reading ON jobs
WHEN NEW.reading <> (SELECT count(*) FROM job_inputs WHERE job_id = NEW.id AND path IS NOT NULL AND sha256 IS NULL)
BEGIN SELECT RAISE(ABORT, 'an input is read once its digest is known'); END;

-- Once it has left the queue, a job has no place in it.
CREATE TRIGGER jobs_place BEFORE UPDATE OF priority ON jobs
WHEN NEW.priority <> OLD.priority AND OLD.status <> 'queued'
BEGIN SELECT RAISE(ABORT, 'only a queued job changes its priority'); END;

CREATE TRIGGER jobs_settled BEFORE UPDATE OF attempts, failure_code, failure_message, started_at, finished_at ON jobs
WHEN (OLD.status = 'succeeded' OR OLD.status = 'failed' OR OLD.status = 'cancelled')
  AND (NEW.attempts <> OLD.attempts OR NEW.failure_code IS NOT OLD.failure_code OR NEW.failure_message IS NOT OLD.failure_message
    OR NEW.started_at IS NOT OLD.started_at OR NEW.finished_at IS NOT OLD.finished_at)
BEGIN SELECT RAISE(ABORT, 'how a job has ended never changes'); END;

-- A job that nobody runs any more has no live attempt (F9).
CREATE TRIGGER jobs_let_go BEFORE UPDATE OF status ON jobs
WHEN (NEW.status = 'queued' OR NEW.status = 'succeeded' OR NEW.status = 'failed' OR NEW.status = 'cancelled') AND NEW.status <> OLD.status
  AND EXISTS (SELECT 1 FROM job_attempts WHERE job_id = NEW.id
    AND (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing'))
BEGIN SELECT RAISE(ABORT, 'a job with a live attempt neither ends nor waits'); END;

-- A job whose inputs are other jobs' outputs runs once they have succeeded (F3),
-- one with inputs by path once they have been read.
CREATE TRIGGER jobs_ready BEFORE UPDATE OF status ON jobs
WHEN NEW.status = 'active' AND OLD.status = 'queued'
  AND EXISTS (SELECT 1 FROM job_inputs i LEFT JOIN jobs o ON o.id = i.input_job_id
    WHERE i.job_id = NEW.id AND (o.status <> 'succeeded' OR i.path IS NOT NULL AND i.sha256 IS NULL))
BEGIN SELECT RAISE(ABORT, 'a job waits for its inputs'); END;

-- A job succeeds by an attempt that did, with the result that it claimed (F8).
CREATE TRIGGER jobs_succeed BEFORE UPDATE OF status ON jobs
WHEN NEW.status = 'succeeded' AND OLD.status <> 'succeeded'
  AND NOT EXISTS (SELECT 1 FROM artifacts f JOIN job_attempts a ON a.id = f.attempt_id WHERE f.job_id = NEW.id AND a.status = 'succeeded')
BEGIN SELECT RAISE(ABORT, 'a job succeeds by an attempt that did, and its artifact'); END;

-- But that a file is read, once, while its job still waits for that.
CREATE TRIGGER job_inputs_same BEFORE UPDATE ON job_inputs
WHEN OLD.path IS NULL OR OLD.sha256 IS NOT NULL OR NEW.sha256 IS NULL OR NEW.bytes IS NULL
  OR NEW.job_id <> OLD.job_id OR NEW.position <> OLD.position OR NEW.path IS NOT OLD.path
  OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = OLD.job_id AND status = 'queued' AND reading > 0)
BEGIN SELECT RAISE(ABORT, 'the inputs of a job never change'); END;
CREATE TRIGGER job_inputs_start BEFORE INSERT ON job_inputs
WHEN EXISTS (SELECT 1 FROM job_inputs WHERE job_id = NEW.job_id AND position = NEW.position)
  OR NEW.sha256 IS NOT NULL OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = NEW.job_id AND status = 'queued' AND attempts = 0)
BEGIN SELECT RAISE(ABORT, 'a job is given its inputs as it starts, once'); END;
-- The other way round, what a live job needs is not deleted: see RemoveFiles.
CREATE TRIGGER job_inputs_there BEFORE INSERT ON job_inputs
WHEN EXISTS (SELECT 1 FROM uploads WHERE id = NEW.upload_id AND deleted_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM artifacts WHERE job_id = NEW.input_job_id AND deleted_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a job is given no input that has been deleted'); END;
CREATE TRIGGER job_inputs_keep BEFORE DELETE ON job_inputs
WHEN EXISTS (SELECT 1 FROM jobs WHERE id = OLD.job_id AND (status = 'queued' OR status = 'active' OR status = 'verifying' OR status = 'cancelling'))
BEGIN SELECT RAISE(ABORT, 'the inputs of a live job are not deleted'); END;

-- Attempts.

CREATE TRIGGER job_attempts_move BEFORE UPDATE OF status ON job_attempts
WHEN NEW.status <> OLD.status AND NOT CASE OLD.status
    WHEN 'leased'      THEN NEW.status = 'downloading' OR NEW.status = 'running' OR NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'downloading' THEN NEW.status = 'running' OR NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'running'     THEN NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'uploading'   THEN NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'committing'  THEN NEW.status = 'succeeded' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'an attempt may not change status that way'); END;

-- The next number of an active job, at epoch 1, with a digest for a secret (F1–F3).
CREATE TRIGGER job_attempts_start BEFORE INSERT ON job_attempts
WHEN NEW.status <> 'leased' OR NEW.lease_epoch <> 1 OR NEW.commit_token_hash GLOB '*[^0-9a-f]*'
  OR NOT EXISTS (SELECT 1 FROM jobs WHERE id = NEW.job_id AND status = 'active' AND attempts = NEW.attempt_number)
  OR EXISTS (SELECT 1 FROM job_attempts WHERE id = NEW.id OR rowid = NEW.rowid)
  OR EXISTS (SELECT 1 FROM job_attempts WHERE job_id = NEW.job_id
             AND (attempt_number = NEW.attempt_number OR (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing')))
BEGIN SELECT RAISE(ABORT, 'an attempt starts leased, once, and alone'); END;

CREATE TRIGGER job_attempts_keep BEFORE DELETE ON job_attempts
WHEN OLD.status = 'leased' OR OLD.status = 'downloading' OR OLD.status = 'running' OR OLD.status = 'uploading' OR OLD.status = 'committing'
BEGIN SELECT RAISE(ABORT, 'a live attempt is not deleted'); END;

CREATE TRIGGER job_attempts_same BEFORE UPDATE OF rowid, oid, _rowid_, id, job_id, attempt_number, device_id, output_key, leased_at ON job_attempts
BEGIN SELECT RAISE(ABORT, 'what an attempt is never changes'); END;

-- F14: a newer epoch comes with a newer secret, and only while the lease rules.
CREATE TRIGGER job_attempts_epoch BEFORE UPDATE OF lease_epoch, commit_token_hash ON job_attempts
WHEN (NEW.lease_epoch <> OLD.lease_epoch OR NEW.commit_token_hash <> OLD.commit_token_hash)
  AND NOT (NEW.lease_epoch > OLD.lease_epoch AND NEW.commit_token_hash <> OLD.commit_token_hash AND NEW.commit_token_hash NOT GLOB '*[^0-9a-f]*'
    AND (OLD.status = 'leased' OR OLD.status = 'downloading' OR OLD.status = 'running' OR OLD.status = 'uploading'))
BEGIN SELECT RAISE(ABORT, 'an epoch only grows, with a new secret, before the commit'); END;

-- F6: what was claimed is what is verified.
CREATE TRIGGER job_attempts_claim BEFORE UPDATE OF claimed_bytes, claimed_sha256, verify_started_at ON job_attempts
WHEN OLD.status <> 'leased' AND OLD.status <> 'downloading' AND OLD.status <> 'running' AND OLD.status <> 'uploading'
  AND (NEW.claimed_bytes IS NOT OLD.claimed_bytes OR NEW.claimed_sha256 IS NOT OLD.claimed_sha256 OR NEW.verify_started_at IS NOT OLD.verify_started_at)
BEGIN SELECT RAISE(ABORT, 'what an attempt has committed never changes'); END;

-- Not retry_after: a backoff moves with a clock that was set (F15).
CREATE TRIGGER job_attempts_settled BEFORE UPDATE OF lease_expires_at, prev_epoch, prev_hash, failure_code, failure_message, ended_at ON job_attempts
WHEN (OLD.status = 'succeeded' OR OLD.status = 'failed' OR OLD.status = 'lost' OR OLD.status = 'cancelled')
  AND (NEW.lease_expires_at <> OLD.lease_expires_at OR NEW.prev_epoch IS NOT OLD.prev_epoch OR NEW.prev_hash IS NOT OLD.prev_hash
    OR NEW.failure_code IS NOT OLD.failure_code OR NEW.failure_message IS NOT OLD.failure_message
    OR NEW.ended_at IS NOT OLD.ended_at)
BEGIN SELECT RAISE(ABORT, 'how an attempt has ended never changes'); END;

-- Grants: open while their attempt is live and has not passed F6 (F16).

CREATE TRIGGER artifact_grants_start BEFORE INSERT ON artifact_grants
WHEN EXISTS (SELECT 1 FROM artifact_grants WHERE attempt_id = NEW.attempt_id OR object_key = NEW.object_key)
  OR NOT EXISTS (SELECT 1 FROM job_attempts WHERE id = NEW.attempt_id AND output_key = NEW.object_key
    AND (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading'))
BEGIN SELECT RAISE(ABORT, 'a grant is opened for a leased attempt and its own key, once'); END;

CREATE TRIGGER artifact_grants_closed BEFORE UPDATE ON artifact_grants
WHEN NEW.attempt_id <> OLD.attempt_id OR NEW.object_key <> OLD.object_key OR NEW.part_bytes <> OLD.part_bytes
  OR NOT EXISTS (SELECT 1 FROM job_attempts WHERE id = OLD.attempt_id
    AND (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading'))
BEGIN SELECT RAISE(ABORT, 'a closed grant never changes'); END;

CREATE TRIGGER artifact_grants_keep BEFORE DELETE ON artifact_grants
WHEN EXISTS (SELECT 1 FROM job_attempts WHERE id = OLD.attempt_id
  AND (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing'))
BEGIN SELECT RAISE(ABORT, 'the grant of a live attempt is not deleted'); END;

-- Artifacts: what was verified is what is published, and stays so.

CREATE TRIGGER artifacts_start BEFORE INSERT ON artifacts
WHEN EXISTS (SELECT 1 FROM artifacts WHERE job_id = NEW.job_id)
  OR NOT EXISTS (SELECT 1 FROM job_attempts WHERE id = NEW.attempt_id AND job_id = NEW.job_id AND status = 'committing'
    AND output_key = NEW.object_key AND claimed_bytes = NEW.bytes AND claimed_sha256 = NEW.sha256)
BEGIN SELECT RAISE(ABORT, 'an artifact is what a committing attempt has claimed, once'); END;

CREATE TRIGGER artifacts_same BEFORE UPDATE OF job_id, attempt_id, object_key, bytes, sha256, media, created_at ON artifacts
BEGIN SELECT RAISE(ABORT, 'a published artifact never changes'); END;

CREATE TRIGGER artifacts_deleted BEFORE UPDATE OF deleted_at ON artifacts
WHEN OLD.deleted_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a deleted artifact never comes back'); END;

CREATE TRIGGER artifacts_keep BEFORE DELETE ON artifacts
WHEN OLD.deleted_at IS NULL
BEGIN SELECT RAISE(ABORT, 'an artifact whose bytes are there is not deleted'); END;

CREATE TRIGGER uploads_start BEFORE INSERT ON uploads
WHEN EXISTS (SELECT 1 FROM uploads WHERE id = NEW.id OR object_key = NEW.object_key OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'an upload starts once'); END;

CREATE TRIGGER uploads_complete BEFORE UPDATE OF rowid, oid, _rowid_, id, account_id, name, bytes, sha256, part_bytes, status, object_key,
  media, created_at, completed_at ON uploads
WHEN OLD.status = 'complete' OR OLD.deleted_at IS NOT NULL OR NEW.id <> OLD.id OR NEW.object_key <> OLD.object_key
BEGIN SELECT RAISE(ABORT, 'an upload that is complete or deleted never changes'); END;

CREATE TRIGGER uploads_deleted BEFORE UPDATE OF deleted_at ON uploads
WHEN OLD.deleted_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a deleted upload never comes back'); END;

-- Credits.

CREATE TRIGGER holds_start BEFORE INSERT ON holds
WHEN NEW.state <> 'held' OR EXISTS (SELECT 1 FROM holds WHERE job_id = NEW.job_id)
BEGIN SELECT RAISE(ABORT, 'a hold starts held, and once'); END;

-- Captured for a job that succeeded, released for one that ended otherwise (F8, F11).
CREATE TRIGGER holds_settle BEFORE UPDATE ON holds
WHEN OLD.state <> 'held' OR NEW.job_id <> OLD.job_id OR NEW.account_id <> OLD.account_id OR NEW.credits <> OLD.credits OR NEW.created_at <> OLD.created_at
  OR NEW.state <> coalesce((SELECT CASE status WHEN 'succeeded' THEN 'captured' WHEN 'failed' THEN 'released' WHEN 'cancelled' THEN 'released' END
    FROM jobs WHERE id = OLD.job_id), 'held')
BEGIN SELECT RAISE(ABORT, 'a hold is settled as its job has ended, once'); END;

CREATE TRIGGER holds_keep BEFORE DELETE ON holds
WHEN OLD.state = 'held'
BEGIN SELECT RAISE(ABORT, 'an open hold is not deleted'); END;

CREATE TRIGGER journals_no_update BEFORE UPDATE ON journals
BEGIN SELECT RAISE(ABORT, 'a journal is never changed'); END;
CREATE TRIGGER journals_no_delete BEFORE DELETE ON journals
BEGIN SELECT RAISE(ABORT, 'a journal is never deleted'); END;
-- Appended, by one of three moves, and the balance goes on from the account's row
-- before. -1 is how SQLite shows an id that is still to be given.
CREATE TRIGGER journals_append BEFORE INSERT ON journals
WHEN NEW.id <> -1 AND NEW.id <= (SELECT max(id) FROM journals)
  OR NEW.debit || ' ' || NEW.credit <> CASE NEW.kind WHEN 'hold' THEN 'available held' WHEN 'capture' THEN 'held spent' ELSE 'held available' END
  OR NEW.held <> NEW.amount * ((NEW.credit = 'held') - (NEW.debit = 'held'))
    + coalesce((SELECT held FROM journals WHERE account_id = NEW.account_id ORDER BY id DESC LIMIT 1), 0)
  OR NEW.spent <> NEW.amount * (NEW.credit = 'spent')
    + coalesce((SELECT spent FROM journals WHERE account_id = NEW.account_id ORDER BY id DESC LIMIT 1), 0)
BEGIN SELECT RAISE(ABORT, 'a journal is only appended, and its balance goes on'); END;

-- Events.

CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;
CREATE TRIGGER events_keep BEFORE DELETE ON events
WHEN OLD.id >= coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'events_horizon'), 0)
  OR OLD.id = (SELECT max(id) FROM events)
BEGIN SELECT RAISE(ABORT, 'an event is only deleted below the horizon'); END;
CREATE TRIGGER events_append BEFORE INSERT ON events
WHEN NEW.id <> -1 AND NEW.id <= (SELECT max(id) FROM events)
BEGIN SELECT RAISE(ABORT, 'an event is only appended'); END;

-- Webhooks: each try says the same.

CREATE TRIGGER webhook_deliveries_same BEFORE UPDATE OF rowid, oid, _rowid_, id, account_id, job_id, url, type, body, created_at ON webhook_deliveries
BEGIN SELECT RAISE(ABORT, 'what a webhook says never changes'); END;

-- Devices: one that was revoked never comes back (F18).

CREATE TRIGGER devices_start BEFORE INSERT ON devices
WHEN EXISTS (SELECT 1 FROM devices WHERE id = NEW.id OR token_hash = NEW.token_hash OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a device is paired once'); END;
CREATE TRIGGER devices_same BEFORE UPDATE OF rowid, oid, _rowid_, id, token_hash ON devices
BEGIN SELECT RAISE(ABORT, 'what a device is never changes'); END;
CREATE TRIGGER devices_revoked BEFORE UPDATE OF revoked_at, session_id, online ON devices
WHEN OLD.revoked_at IS NOT NULL AND (NEW.revoked_at IS NULL OR NEW.session_id IS NOT NULL OR NEW.online <> 0)
BEGIN SELECT RAISE(ABORT, 'a revoked device never comes back'); END;
CREATE TRIGGER devices_keep BEFORE DELETE ON devices
WHEN OLD.revoked_at IS NULL OR EXISTS (SELECT 1 FROM job_attempts WHERE device_id = OLD.id
  AND (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing'))
BEGIN SELECT RAISE(ABORT, 'a device is not deleted while it may still act'); END;

-- API keys: what one may do never grows, and one that was revoked never comes back.

CREATE TRIGGER api_keys_start BEFORE INSERT ON api_keys
WHEN EXISTS (SELECT 1 FROM api_keys WHERE id = NEW.id OR key_hash = NEW.key_hash OR rowid = NEW.rowid)
BEGIN SELECT RAISE(ABORT, 'a key is made once'); END;
CREATE TRIGGER api_keys_same BEFORE UPDATE OF rowid, oid, _rowid_, id, account_id, scope, key_hash, created_at ON api_keys
BEGIN SELECT RAISE(ABORT, 'what a key is never changes'); END;
CREATE TRIGGER api_keys_revoked BEFORE UPDATE OF revoked_at ON api_keys
WHEN OLD.revoked_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'a revoked key never comes back'); END;
