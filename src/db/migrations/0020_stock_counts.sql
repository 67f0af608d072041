-- How many codes of each kind are left, counted as they come and go: free are for sale unless they have expired, unpublished
-- belong to an import that has not finished.
CREATE TABLE stock_counts (
  product_id         INTEGER NOT NULL,
  denomination_minor INTEGER NOT NULL,
  free               INTEGER NOT NULL CHECK (free >= 0),
  unpublished        INTEGER NOT NULL CHECK (unpublished >= 0),
  PRIMARY KEY (product_id, denomination_minor)
) STRICT, WITHOUT ROWID;
INSERT INTO stock_counts SELECT product_id, denomination_minor,
    sum(order_id IS NULL AND damaged_at_ms IS NULL AND id <= up_to_id), sum(order_id IS NULL AND damaged_at_ms IS NULL AND id > up_to_id)
  FROM voucher_stock, (SELECT up_to_id FROM stock_published) GROUP BY product_id, denomination_minor;

CREATE TRIGGER voucher_stock_counted AFTER INSERT ON voucher_stock BEGIN
  INSERT INTO stock_counts SELECT NEW.product_id, NEW.denomination_minor,
      (NEW.order_id IS NULL AND NEW.damaged_at_ms IS NULL) * (NEW.id <= up_to_id),
      (NEW.order_id IS NULL AND NEW.damaged_at_ms IS NULL) * (NEW.id > up_to_id) FROM stock_published WHERE TRUE
    ON CONFLICT DO UPDATE SET free = free + excluded.free, unpublished = unpublished + excluded.unpublished;
END;
CREATE TRIGGER voucher_stock_recounted AFTER UPDATE OF order_id, damaged_at_ms ON voucher_stock
WHEN (OLD.order_id IS NULL AND OLD.damaged_at_ms IS NULL) <> (NEW.order_id IS NULL AND NEW.damaged_at_ms IS NULL) BEGIN
  UPDATE stock_counts SET
      free = free + iif(NEW.order_id IS NULL AND NEW.damaged_at_ms IS NULL, 1, -1) * (NEW.id <= up_to_id),
      unpublished = unpublished + iif(NEW.order_id IS NULL AND NEW.damaged_at_ms IS NULL, 1, -1) * (NEW.id > up_to_id)
    FROM stock_published WHERE product_id = NEW.product_id AND denomination_minor = NEW.denomination_minor;
END;
CREATE TRIGGER voucher_stock_discounted AFTER DELETE ON voucher_stock
WHEN OLD.order_id IS NULL AND OLD.damaged_at_ms IS NULL BEGIN
  UPDATE stock_counts SET free = free - (OLD.id <= up_to_id), unpublished = unpublished - (OLD.id > up_to_id)
    FROM stock_published WHERE product_id = OLD.product_id AND denomination_minor = OLD.denomination_minor;
END;
CREATE TRIGGER stock_published_counted AFTER UPDATE ON stock_published BEGIN
  UPDATE stock_counts SET free = free + unpublished, unpublished = 0 WHERE unpublished > 0;
END;

-- With the expiry, so that expired codes are passed over without reading their rows; and the expired ones, to count them.
DROP INDEX voucher_stock_free;
CREATE INDEX voucher_stock_free ON voucher_stock (product_id, denomination_minor, id, expires_at_ms)
  WHERE order_id IS NULL AND damaged_at_ms IS NULL;
CREATE INDEX voucher_stock_expiry ON voucher_stock (expires_at_ms, product_id, denomination_minor, id)
  WHERE order_id IS NULL AND damaged_at_ms IS NULL AND expires_at_ms IS NOT NULL;
