-- Where the randomness and the ids of a named world stand, as of the commit that used them last (contract C15).
CREATE TABLE kept_randomness (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  seed     TEXT NOT NULL,
  position INTEGER NOT NULL,
  last_ms  INTEGER NOT NULL,
  sequence INTEGER NOT NULL
) STRICT;
