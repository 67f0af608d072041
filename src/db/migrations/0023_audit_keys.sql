-- Rows of the audit are keyed (contract C17): the name of the key, which the voucher key gives. Null where there was none yet.
ALTER TABLE audit ADD COLUMN key_mark TEXT;

-- The keys of rows from before a rekeying, sealed with the voucher key.
CREATE TABLE audit_keys (
  mark   TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT;
