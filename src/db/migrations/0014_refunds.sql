-- What the wallet got back of an order, whatever the reason, and which of its vouchers were refunded (contract C17).
ALTER TABLE orders ADD COLUMN refunded_minor INTEGER NOT NULL DEFAULT 0 CHECK (refunded_minor BETWEEN 0 AND payable_minor);
UPDATE orders SET refunded_minor = t.refunded
  FROM (SELECT client_id, source_id, sum(amount_minor) AS refunded FROM transactions
    WHERE source_type = 'refund' GROUP BY client_id, source_id) AS t
  WHERE t.client_id = orders.client_id AND t.source_id = CAST(orders.id AS TEXT);
ALTER TABLE vouchers ADD COLUMN refunded_at_ms INTEGER;
