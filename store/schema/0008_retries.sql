-- Which jobs repeat a job, without a walk over all of them.
CREATE INDEX jobs_retry_of ON jobs (retry_of, id) WHERE retry_of IS NOT NULL;
