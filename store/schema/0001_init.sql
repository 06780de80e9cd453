-- Times are integer milliseconds since 1970 UTC, sizes bytes, booleans 0 or 1.
-- The rules cited are those of docs/fencing.md (F1–F18). Where rows change often,
-- OR stands for IN: SQLite builds a table in memory for each longer IN list it
-- evaluates, here for every row that is written.

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE accounts (
  id                    TEXT PRIMARY KEY,
  name                  TEXT NOT NULL UNIQUE,
  credit_limit          INTEGER CHECK (credit_limit >= 0),
  webhook_secret        TEXT NOT NULL,
  webhook_secret_before TEXT,
  webhook_before_until  INTEGER,
  created_at            INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
  id         TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name       TEXT NOT NULL,
  scope      TEXT NOT NULL CHECK (scope IN ('read', 'submit', 'admin')),
  key_hash   TEXT NOT NULL UNIQUE CHECK (length(key_hash) = 64),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE TABLE sessions (
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  key_id     TEXT NOT NULL REFERENCES api_keys (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE devices (
  id             TEXT PRIMARY KEY,
  name           TEXT NOT NULL,
  token_hash     TEXT NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  session_id     TEXT,              -- the newest session, the only one that may act (F14)
  online         INTEGER NOT NULL DEFAULT 0 CHECK (online IN (0, 1)),
  draining       INTEGER NOT NULL DEFAULT 0 CHECK (draining IN (0, 1)),
  slots_override INTEGER CHECK (slots_override >= 0),
  agent_slots    INTEGER NOT NULL DEFAULT 0,
  agent_version  TEXT NOT NULL DEFAULT '',
  services       TEXT NOT NULL DEFAULT '[]',
  tags           TEXT NOT NULL DEFAULT '[]',
  facts          TEXT NOT NULL DEFAULT '{}',  -- hello's `device`
  paired_at      INTEGER NOT NULL,
  last_seen_at   INTEGER,
  revoked_at     INTEGER            -- F18
) STRICT;
CREATE INDEX devices_online ON devices (last_seen_at) WHERE online = 1;

CREATE TABLE pairing_codes (
  code_hash  TEXT PRIMARY KEY CHECK (length(code_hash) = 64),
  name       TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER,
  device_id  TEXT REFERENCES devices (id)
) STRICT;

CREATE TABLE uploads (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  name         TEXT NOT NULL,
  bytes        INTEGER NOT NULL CHECK (bytes >= 0),
  sha256       TEXT,                -- claimed at first, the server's own once complete
  part_bytes   INTEGER NOT NULL CHECK (part_bytes > 0),
  status       TEXT NOT NULL CHECK (status IN ('open', 'complete')),
  object_key   TEXT NOT NULL UNIQUE,
  media        TEXT,
  created_at   INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;

CREATE TABLE upload_parts (
  owner_id TEXT NOT NULL,           -- an upload or an attempt
  number   INTEGER NOT NULL CHECK (number > 0),
  bytes    INTEGER NOT NULL CHECK (bytes >= 0),
  sha256   TEXT NOT NULL,
  PRIMARY KEY (owner_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
  id                 TEXT PRIMARY KEY,
  account_id         TEXT NOT NULL REFERENCES accounts (id),
  status             TEXT NOT NULL, -- moved by the table in triggers.sql only
  service            TEXT NOT NULL,
  params             TEXT NOT NULL, -- as the buyer sent them
  resolved           TEXT NOT NULL, -- with preset and defaults, as they were promised
  needs              TEXT NOT NULL, -- what a device must have, canonical JSON: jobs alike share one
  priority           INTEGER NOT NULL CHECK (priority BETWEEN -100 AND 100),
  max_attempts       INTEGER NOT NULL CHECK (max_attempts BETWEEN 1 AND 10),
  admission_deadline INTEGER,
  requires           TEXT,
  webhook_url        TEXT,
  webhook_events     TEXT NOT NULL,
  output_name        TEXT NOT NULL,
  output_ext         TEXT NOT NULL,
  content_type       TEXT NOT NULL,
  labels             TEXT NOT NULL,
  retry_of           TEXT REFERENCES jobs (id),
  waiting_on         TEXT REFERENCES jobs (id),
  attempts           INTEGER NOT NULL DEFAULT 0, -- the newest attempt's number
  failure_code       TEXT,
  failure_message    TEXT,
  created_at         INTEGER NOT NULL,
  started_at         INTEGER,
  finished_at        INTEGER
) STRICT;
CREATE INDEX jobs_queue ON jobs (needs, priority DESC, id) WHERE status = 'queued' AND waiting_on IS NULL;
CREATE INDEX jobs_admission ON jobs (admission_deadline) WHERE status = 'queued' AND admission_deadline IS NOT NULL;
CREATE INDEX jobs_waiting ON jobs (waiting_on) WHERE waiting_on IS NOT NULL AND status = 'queued';
CREATE INDEX jobs_live ON jobs (status, id)
  WHERE status = 'queued' OR status = 'active' OR status = 'verifying' OR status = 'cancelling';
CREATE INDEX jobs_account ON jobs (account_id, id);

CREATE TABLE job_inputs (
  job_id       TEXT NOT NULL REFERENCES jobs (id),
  position     INTEGER NOT NULL,
  upload_id    TEXT REFERENCES uploads (id),
  input_job_id TEXT REFERENCES jobs (id),
  path         TEXT,
  PRIMARY KEY (job_id, position),
  CHECK ((upload_id IS NOT NULL) + (input_job_id IS NOT NULL) + (path IS NOT NULL) = 1)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_inputs_of_job ON job_inputs (input_job_id) WHERE input_job_id IS NOT NULL;

CREATE TABLE job_attempts (
  id                TEXT PRIMARY KEY,
  job_id            TEXT NOT NULL REFERENCES jobs (id),
  attempt_number    INTEGER NOT NULL CHECK (attempt_number > 0),
  status            TEXT NOT NULL,  -- moved by the table in triggers.sql only
  device_id         TEXT NOT NULL REFERENCES devices (id),
  lease_epoch       INTEGER NOT NULL CHECK (lease_epoch > 0),
  commit_token_hash TEXT NOT NULL CHECK (length(commit_token_hash) = 64),
  prev_epoch        INTEGER,        -- what the last resume replaced (F14)
  prev_hash         TEXT,
  lease_expires_at  INTEGER NOT NULL,
  phase             TEXT,           -- as last reported
  fraction          REAL,
  fps               REAL,
  speed             REAL,
  eta_s             REAL,
  input_media       TEXT,
  claimed_bytes     INTEGER,
  claimed_sha256    TEXT,
  warnings          TEXT,
  verify_started_at INTEGER,
  failure_code      TEXT,
  failure_message   TEXT,
  output_key        TEXT NOT NULL,
  leased_at         INTEGER NOT NULL,
  retry_after       INTEGER,        -- this device waits that long before it may take the job again (F12)
  ended_at          INTEGER,
  UNIQUE (job_id, attempt_number)
) STRICT;
CREATE UNIQUE INDEX job_attempts_one_live ON job_attempts (job_id)
  WHERE status = 'leased' OR status = 'downloading' OR status = 'running' OR status = 'uploading' OR status = 'committing'; -- F2
-- Leases have no index of their own, which every heartbeat would rewrite: the
-- sweeper walks the few live attempts of job_attempts_one_live.
CREATE INDEX job_attempts_ended ON job_attempts (device_id, status) WHERE ended_at IS NOT NULL;

CREATE TABLE artifact_grants (
  attempt_id TEXT PRIMARY KEY REFERENCES job_attempts (id),
  object_key TEXT NOT NULL UNIQUE,
  part_bytes INTEGER NOT NULL,
  bytes      INTEGER,
  sha256     TEXT
) STRICT, WITHOUT ROWID;            -- open while its attempt is live and has not passed F6 (F16)

CREATE TABLE attempt_logs (
  attempt_id TEXT PRIMARY KEY REFERENCES job_attempts (id),
  tail       TEXT NOT NULL          -- the newest 64 KiB
) STRICT;

CREATE TABLE artifacts (
  job_id       TEXT PRIMARY KEY REFERENCES jobs (id),
  attempt_id   TEXT NOT NULL REFERENCES job_attempts (id),
  object_key   TEXT NOT NULL,
  bytes        INTEGER NOT NULL,
  sha256       TEXT NOT NULL,
  media        TEXT,
  created_at   INTEGER NOT NULL,
  deleted_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE holds (
  job_id     TEXT PRIMARY KEY REFERENCES jobs (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  credits    INTEGER NOT NULL CHECK (credits > 0),
  state      TEXT NOT NULL CHECK (state IN ('held', 'captured', 'released')),
  created_at INTEGER NOT NULL,
  settled_at INTEGER
) STRICT, WITHOUT ROWID;

-- One movement is one row: balanced by construction.
CREATE TABLE journals (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  at         INTEGER NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  job_id     TEXT REFERENCES jobs (id),
  kind       TEXT NOT NULL CHECK (kind IN ('hold', 'capture', 'release')),
  debit      TEXT NOT NULL,
  credit     TEXT NOT NULL CHECK (credit <> debit),
  amount     INTEGER NOT NULL CHECK (amount > 0)
) STRICT;
CREATE INDEX journals_account ON journals (account_id, id);

CREATE TABLE events (
  id         INTEGER PRIMARY KEY,     -- never given twice: the newest row is never deleted
  at         INTEGER NOT NULL,
  type       TEXT NOT NULL,
  account_id TEXT,
  job_id     TEXT,
  attempt_id TEXT,
  device_id  TEXT,
  data       TEXT NOT NULL
) STRICT;
CREATE INDEX events_job ON events (job_id) WHERE job_id IS NOT NULL;

CREATE TABLE webhook_deliveries (
  id           TEXT PRIMARY KEY,
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  job_id       TEXT NOT NULL REFERENCES jobs (id),
  url          TEXT NOT NULL,
  type         TEXT NOT NULL,
  body         TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state = 'pending' OR state = 'delivered' OR state = 'failed'),
  tries        INTEGER NOT NULL DEFAULT 0,
  next_try_at  INTEGER,
  last_status  INTEGER,
  last_error   TEXT,
  created_at   INTEGER NOT NULL,
  delivered_at INTEGER
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (next_try_at) WHERE state = 'pending';

CREATE TABLE idempotency_keys (
  account_id   TEXT NOT NULL REFERENCES accounts (id),
  route        TEXT NOT NULL,
  key          TEXT NOT NULL,
  body_hash    TEXT NOT NULL,
  status       INTEGER NOT NULL,
  resource_ids TEXT NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (account_id, route, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

CREATE VIEW journal_lines AS
  SELECT id AS journal_id, at, account_id, job_id, kind, debit AS ledger, amount AS debit, 0 AS credit FROM journals
  UNION ALL
  SELECT id, at, account_id, job_id, kind, credit, 0, amount FROM journals;
