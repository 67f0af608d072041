-- Codes are imported a few at a time, so that others can write between, and are for sale from the moment that all of a file
-- are there: those beyond this id are not yet.
CREATE TABLE stock_published (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  up_to_id INTEGER NOT NULL
) STRICT;
INSERT INTO stock_published SELECT 1, coalesce(max(id), 0) FROM voucher_stock;
