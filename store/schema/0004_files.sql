-- What retention removes stays known: its row says when its bytes went, and jobs
-- still point at it. None of these indexes is touched by a run's heartbeat or a
-- job's way to success, but for the one entry of its artifact. All that a look by
-- age or a sum asks for stands in them.

ALTER TABLE uploads ADD COLUMN deleted_at INTEGER;

CREATE INDEX uploads_kept ON uploads (completed_at, id, bytes, status, deleted_at) WHERE status = 'complete' AND deleted_at IS NULL;
CREATE INDEX uploads_open ON uploads (created_at, id, bytes, status, deleted_at) WHERE status = 'open' AND deleted_at IS NULL;
CREATE INDEX artifacts_kept ON artifacts (created_at, job_id, bytes, deleted_at) WHERE deleted_at IS NULL;

-- Who needs an upload.
CREATE INDEX job_inputs_of_upload ON job_inputs (upload_id, job_id) WHERE upload_id IS NOT NULL;

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

-- Inputs by path under a shared root. They belong to somebody else and may
-- change: what the server read of one is the job's own, and the job is leased
-- only once all of them have been read.

ALTER TABLE jobs ADD COLUMN reading INTEGER NOT NULL DEFAULT 0 CHECK (reading >= 0); -- inputs by path that are not read yet
ALTER TABLE job_inputs ADD COLUMN bytes INTEGER CHECK (bytes >= 0);                  -- these four of a path only
ALTER TABLE job_inputs ADD COLUMN sha256 TEXT CHECK (length(sha256) = 64);
ALTER TABLE job_inputs ADD COLUMN media TEXT;
ALTER TABLE job_inputs ADD COLUMN stamp TEXT; -- by which the file is known again while nobody touches it

DROP INDEX jobs_queue;
CREATE INDEX jobs_queue ON jobs (needs, priority DESC, id) WHERE status = 'queued' AND waiting_on IS NULL AND reading = 0;
CREATE INDEX jobs_reading ON jobs (id) WHERE status = 'queued' AND reading > 0;
CREATE INDEX job_inputs_stamp ON job_inputs (path, stamp) WHERE stamp IS NOT NULL;
