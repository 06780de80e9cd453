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

-- What ended when: one entry a job and one an attempt, written as it ends. No
-- other change of theirs touches either index.

CREATE INDEX jobs_finished ON jobs (finished_at, account_id, status) WHERE finished_at IS NOT NULL;
DROP INDEX job_attempts_ended;
CREATE INDEX job_attempts_ended ON job_attempts (device_id, status, ended_at, leased_at) WHERE ended_at IS NOT NULL;
