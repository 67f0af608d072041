-- What operators did and what was refused to them, and failed logins (contract C17). Each row holds the hash of the one before.
CREATE TABLE audit (
  id            INTEGER PRIMARY KEY,
  at_ms         INTEGER NOT NULL,
  user          TEXT NOT NULL,
  command       TEXT NOT NULL,
  subject       TEXT NOT NULL,
  before        TEXT CHECK (json_valid(before)),
  after         TEXT CHECK (json_valid(after)),
  outcome       TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
  address       TEXT,
  previous_hash TEXT NOT NULL CHECK (length(previous_hash) = 64),
  hash          TEXT NOT NULL CHECK (length(hash) = 64)
) STRICT;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END;
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is final'); END;

-- Where the audit ends, kept apart, so that a tail that was cut off shows: one row.
CREATE TABLE audit_head (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL,
  hash  TEXT NOT NULL
) STRICT;
INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');
