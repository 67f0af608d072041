-- A delivered voucher names the code of the stock that it is: what is sealed for one row opens in no other (contract C12).
ALTER TABLE vouchers ADD COLUMN stock_id INTEGER REFERENCES voucher_stock (id);
UPDATE vouchers SET stock_id = stock.id
  FROM voucher_stock AS stock WHERE stock.order_id = vouchers.order_id AND stock.sealed = vouchers.sealed;
CREATE UNIQUE INDEX vouchers_stock ON vouchers (stock_id) WHERE stock_id IS NOT NULL;

-- A code that cannot be opened is not for sale.
ALTER TABLE voucher_stock ADD COLUMN damaged_at_ms INTEGER;
DROP INDEX voucher_stock_free;
CREATE INDEX voucher_stock_free ON voucher_stock (product_id, denomination_minor, id)
  WHERE order_id IS NULL AND damaged_at_ms IS NULL;

-- The mark of the key that all codes are being sealed with anew: one row while scrip vouchers rekey has not finished.
CREATE TABLE voucher_key_next (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL
) STRICT;
