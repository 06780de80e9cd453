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

-- Deliveries of one account to one host stand in one lane. A lane that does not
-- move, whatever is in it, costs the others nothing: the deliverer looks at each
-- lane's first rows only.

ALTER TABLE webhook_deliveries ADD COLUMN lane TEXT GENERATED ALWAYS AS (account_id || ' ' || lower(substr(
  replace(replace(substr(url, instr(url, '//') + 2) || '/', '?', '/'), '#', '/'), 1,
  instr(replace(replace(substr(url, instr(url, '//') + 2) || '/', '?', '/'), '#', '/'), '/') - 1))) VIRTUAL;

DROP INDEX webhook_deliveries_due;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (lane, next_try_at) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (id) WHERE state = 'failed';
CREATE INDEX webhook_deliveries_job ON webhook_deliveries (job_id, id);
CREATE INDEX webhook_deliveries_account ON webhook_deliveries (account_id, id);
