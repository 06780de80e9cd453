-- Links that sign someone in to the dashboard, once. A used or late one stays for
-- a day, so that whoever opens it again is told why it does nothing.

CREATE TABLE sign_in_links (
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  key_id     TEXT NOT NULL REFERENCES api_keys (id),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at    INTEGER
) STRICT;
CREATE INDEX sign_in_links_key ON sign_in_links (key_id);
CREATE INDEX sign_in_links_age ON sign_in_links (expires_at);

CREATE INDEX sessions_age ON sessions (expires_at);
