-- Where this database stands as a copy of a record in PostgreSQL (contract C18): one row, none elsewhere. It is not a part
-- of the data, and no backup has it.
CREATE TABLE record_copy (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  installation TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  -- Under which epoch, and when by the clock of PostgreSQL, in microseconds, that commit was made.
  epoch        INTEGER NOT NULL,
  at_us        INTEGER NOT NULL,
  -- The epoch under which this folder writes.
  lease_epoch  INTEGER NOT NULL DEFAULT 0
) STRICT;
