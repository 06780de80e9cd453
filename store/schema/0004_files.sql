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
