-- What a job has moved, without a walk over its account's whole journal.
CREATE INDEX journals_job ON journals (job_id, id) WHERE job_id IS NOT NULL;
