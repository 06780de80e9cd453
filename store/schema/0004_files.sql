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
