-- Where an account's credits are after each movement: the newest row says it,
-- and no submit adds them all up.
ALTER TABLE journals ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0);
ALTER TABLE journals ADD COLUMN spent INTEGER NOT NULL DEFAULT 0 CHECK (spent >= 0);

UPDATE journals SET held = sums.held, spent = sums.spent FROM (
  SELECT id, sum(amount * ((credit = 'held') - (debit = 'held'))) OVER account AS held,
    sum(amount * ((credit = 'spent') - (debit = 'spent'))) OVER account AS spent
  FROM journals WINDOW account AS (PARTITION BY account_id ORDER BY id)
) AS sums WHERE sums.id = journals.id;

-- Revoking a key ends its sessions.
CREATE INDEX sessions_key ON sessions (key_id);

-- Lists of jobs. None of these indexes is touched by a lease's heartbeat or a job's
-- way to success: two are written once, with the row, two by failures only.

CREATE INDEX jobs_service ON jobs (service, id);
CREATE INDEX jobs_lost ON jobs (status, id) WHERE status = 'failed' OR status = 'cancelled';
CREATE INDEX jobs_lost_of ON jobs (account_id, status, id) WHERE status = 'failed' OR status = 'cancelled';
CREATE INDEX job_attempts_device ON job_attempts (device_id, job_id);

-- By how much, in milliseconds, the time in a job's id has been ahead of its
-- created_at at most: ids go on growing while a clock that was set back catches up.
INSERT OR REPLACE INTO settings (name, value)
  SELECT 'ids_ahead', CAST(max((instr(a, substr(id, 5, 1)) - 1 << 45) + (instr(a, substr(id, 6, 1)) - 1 << 40) + (instr(a, substr(id, 7, 1)) - 1 << 35) + (instr(a, substr(id, 8, 1)) - 1 << 30) + (instr(a, substr(id, 9, 1)) - 1 << 25)
    + (instr(a, substr(id, 10, 1)) - 1 << 20) + (instr(a, substr(id, 11, 1)) - 1 << 15) + (instr(a, substr(id, 12, 1)) - 1 << 10) + (instr(a, substr(id, 13, 1)) - 1 << 5) + (instr(a, substr(id, 14, 1)) - 1 << 0) - created_at) AS TEXT)
  FROM jobs, (SELECT '0123456789abcdefghjkmnpqrstvwxyz' AS a) HAVING count(*) > 0;

-- Deliveries of one account to one host stand in one lane. A lane that does not
-- move, whatever is in it, costs the others nothing: the deliverer looks at each
-- lane's first rows only.

ALTER TABLE webhook_deliveries ADD COLUMN lane TEXT GENERATED ALWAYS AS (account_id || ' ' || lower(substr(
  replace(replace(substr(url, instr(url, '//') + 2) || '/', '?', '/'), '#', '/'), 1,
  instr(replace(replace(substr(url, instr(url, '//') + 2) || '/', '?', '/'), '#', '/'), '/') - 1))) VIRTUAL;

DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (lane, next_try_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_job ON webhook_deliveries (job_id, id);
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, id);

-- What ended when: one entry a job and one an attempt, written as it ends. No
-- other change of theirs touches either index.

CREATE INDEX jobs_finished ON jobs (finished_at, account_id, status) WHERE finished_at IS NOT NULL;
DROP INDEX job_attempts_ended;
CREATE INDEX job_attempts_ended ON job_attempts (device_id, status, ended_at, leased_at) WHERE ended_at IS NOT NULL;
