-- What a transaction owes to later ones stands in rows, so that no crash loses it.

CREATE TABLE settlements (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id), -- it has ended, and not all jobs that need its output know
  after  TEXT NOT NULL                          -- those up to here do
) STRICT, WITHOUT ROWID;

CREATE TABLE discards (
  object_key TEXT PRIMARY KEY                   -- what a run that did not succeed may have written (F16); removed once the bytes are gone
) STRICT, WITHOUT ROWID;

INSERT INTO discards
  SELECT g.object_key FROM job_attempts a JOIN artifact_grants g ON g.attempt_id = a.id
  WHERE a.ended_at IS NOT NULL AND a.status <> 'succeeded' AND g.bytes IS NOT NULL;
