-- A code knows which device it will make, so that whoever waits for that one can
-- tell it from others. Codes of before live for minutes: an admin makes new ones.
DROP TABLE pairing_codes;
CREATE TABLE pairing_codes (
  code_hash  TEXT PRIMARY KEY CHECK (length(code_hash) = 64),
  name       TEXT,
  device_id  TEXT NOT NULL UNIQUE,  -- no reference: the device comes when the code is used
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT;

ALTER TABLE devices ADD COLUMN online_since INTEGER; -- of the time online now, or of the last one
