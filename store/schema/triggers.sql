-- The database's own guard: the same two status tables as fence/status.go, held
-- equal to it by a test. Made anew whenever the schema changes. RAISE(ABORT)
-- undoes one statement and leaves the rest of a batch alone.

CREATE TRIGGER jobs_move BEFORE UPDATE OF status ON jobs
WHEN NEW.status <> OLD.status AND NOT CASE OLD.status
    WHEN 'queued'     THEN NEW.status = 'active' OR NEW.status = 'cancelled' OR NEW.status = 'failed'
    WHEN 'active'     THEN NEW.status = 'queued' OR NEW.status = 'verifying' OR NEW.status = 'cancelling' OR NEW.status = 'failed'
    WHEN 'verifying'  THEN NEW.status = 'succeeded' OR NEW.status = 'cancelling' OR NEW.status = 'failed'
    WHEN 'cancelling' THEN NEW.status = 'cancelled' OR NEW.status = 'failed'
    ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'a job may not change status that way'); END;

-- INSERT OR REPLACE fires no delete trigger: an id that exists is refused here.
CREATE TRIGGER jobs_start BEFORE INSERT ON jobs
WHEN NEW.status <> 'queued' OR EXISTS (SELECT 1 FROM jobs WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a job starts queued, and once'); END;

CREATE TRIGGER jobs_keep BEFORE DELETE ON jobs
WHEN OLD.status = 'queued' OR OLD.status = 'active' OR OLD.status = 'verifying' OR OLD.status = 'cancelling'
BEGIN SELECT RAISE(ABORT, 'a live job is not deleted'); END;

CREATE TRIGGER job_attempts_move BEFORE UPDATE OF status ON job_attempts
WHEN NEW.status <> OLD.status AND NOT CASE OLD.status
    WHEN 'leased'      THEN NEW.status = 'downloading' OR NEW.status = 'running' OR NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'downloading' THEN NEW.status = 'running' OR NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'running'     THEN NEW.status = 'uploading' OR NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'uploading'   THEN NEW.status = 'committing' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    WHEN 'committing'  THEN NEW.status = 'succeeded' OR NEW.status = 'failed' OR NEW.status = 'lost' OR NEW.status = 'cancelled'
    ELSE 0 END
BEGIN SELECT RAISE(ABORT, 'an attempt may not change status that way'); END;

CREATE TRIGGER job_attempts_start BEFORE INSERT ON job_attempts
WHEN NEW.status <> 'leased'
  OR EXISTS (SELECT 1 FROM job_attempts WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM job_attempts WHERE job_id = NEW.job_id
             AND (attempt_number = NEW.attempt_number OR (status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing')))
BEGIN SELECT RAISE(ABORT, 'an attempt starts leased, once, and alone'); END;

CREATE TRIGGER job_attempts_keep BEFORE DELETE ON job_attempts
WHEN OLD.status = 'leased' OR OLD.status = 'downloading' OR OLD.status = 'running' OR OLD.status = 'uploading' OR OLD.status = 'committing'
BEGIN SELECT RAISE(ABORT, 'a live attempt is not deleted'); END;

CREATE TRIGGER journals_no_update BEFORE UPDATE ON journals
BEGIN SELECT RAISE(ABORT, 'a journal is never changed'); END;
CREATE TRIGGER journals_no_delete BEFORE DELETE ON journals
BEGIN SELECT RAISE(ABORT, 'a journal is never deleted'); END;
CREATE TRIGGER journals_no_replace BEFORE INSERT ON journals
WHEN NEW.id > 0 AND EXISTS (SELECT 1 FROM journals WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a journal is never replaced'); END;

CREATE TRIGGER events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;
CREATE TRIGGER events_keep BEFORE DELETE ON events
WHEN OLD.id >= coalesce((SELECT CAST(value AS INTEGER) FROM settings WHERE name = 'events_horizon'), 0)
  OR OLD.id = (SELECT max(id) FROM events)
BEGIN SELECT RAISE(ABORT, 'an event is only deleted below the horizon'); END;
CREATE TRIGGER events_no_replace BEFORE INSERT ON events
WHEN NEW.id > 0 AND EXISTS (SELECT 1 FROM events WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'an event is never replaced'); END;
