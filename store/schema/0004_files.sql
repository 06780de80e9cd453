-- Of each lane with something pending, when the first of it is due: one row
-- however much waits in it, so that the deliverer asks for an account's most
-- urgent lanes and for no others, however many hosts it has named.

CREATE TABLE webhook_lanes (
  lane       TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  due        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_lanes_due ON webhook_lanes (account_id, due);

INSERT INTO webhook_lanes SELECT lane, account_id, min(next_try_at) FROM webhook_deliveries WHERE state = 'pending' GROUP BY lane;

-- What of one account's is pending, or has failed, without a walk over everybody's.
CREATE INDEX webhook_deliveries_pending_of ON webhook_deliveries (account_id, id) WHERE state = 'pending';
CREATE INDEX webhook_deliveries_failed_of ON webhook_deliveries (account_id, id) WHERE state = 'failed';

-- How often a delivery has begun anew: what comes of a try that was under way
-- then counts for nothing.
ALTER TABLE webhook_deliveries ADD COLUMN round INTEGER NOT NULL DEFAULT 0;
