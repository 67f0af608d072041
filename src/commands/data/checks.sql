-- What `scrip verify` checks (contract C11 to C13): properties that every database has at all times. Each query returns the rows
-- that violate its property in one column, `fault`: what is wrong, and with which row; the first one first.

-- name: references are met
SELECT 'row ' || coalesce(rowid, '?') || ' of ' || "table" || ' names a missing row of ' || parent AS fault
  FROM pragma_foreign_key_check;

-- name: ids fit into paths
SELECT 'the ids of ' || name || ' have reached ' || id || ', and paths take them up to 2147483647' AS fault FROM (
    SELECT name, seq AS id FROM sqlite_sequence
    UNION ALL SELECT 'clients', max(id) FROM clients
    UNION ALL SELECT 'wallets', max(id) FROM wallets
    UNION ALL SELECT 'products', max(id) FROM products
    UNION ALL SELECT 'orders', max(id) FROM orders
    UNION ALL SELECT 'transactions', max(id) FROM transactions
  ) WHERE id > 2147483647 ORDER BY name;

-- name: ledger entries balance
SELECT 'ledger entry ' || entry_id || ' sums to ' || sum(amount_minor) || ' in currency ' || currency_id AS fault
  FROM journal_lines GROUP BY entry_id, currency_id HAVING sum(amount_minor) <> 0 ORDER BY entry_id;

-- name: wallets hold what their lines sum to
SELECT 'wallet ' || w.id || ' holds ' || w.amount_minor || ', its lines sum to ' || l.summed AS fault
  FROM wallets w JOIN (SELECT w.id, coalesce(sum(j.amount_minor), 0) AS summed FROM wallets w
    LEFT JOIN journal_lines j ON j.wallet_id = w.id AND j.account = 'wallet' GROUP BY w.id) l ON l.id = w.id
  WHERE w.amount_minor <> l.summed ORDER BY w.id;

-- name: reserved amounts are what their lines sum to
SELECT 'wallet ' || w.id || ' reserves ' || w.reserved_minor || ', its lines sum to ' || l.summed AS fault
  FROM wallets w JOIN (SELECT w.id, coalesce(sum(j.amount_minor), 0) AS summed FROM wallets w
    LEFT JOIN journal_lines j ON j.wallet_id = w.id AND j.account = 'reserved' GROUP BY w.id) l ON l.id = w.id
  WHERE w.reserved_minor <> l.summed ORDER BY w.id;

-- name: reserved amounts belong to open orders and payouts
SELECT 'wallet ' || w.id || ' reserves ' || w.reserved_minor || ', its open orders and payouts come to ' ||
    (coalesce(o.total, 0) + coalesce(p.total, 0)) AS fault
  FROM wallets w
  LEFT JOIN (SELECT wallet_id, sum(payable_minor) AS total FROM orders
    WHERE status IN ('PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED') AND failed_at_ms IS NULL GROUP BY wallet_id) o
    ON o.wallet_id = w.id
  LEFT JOIN (SELECT wallet_id, sum(paid_minor) AS total FROM payouts
    WHERE status IN ('created', 'queued', 'processing', 'settling', 'action_required') GROUP BY wallet_id) p ON p.wallet_id = w.id
  WHERE w.reserved_minor <> coalesce(o.total, 0) + coalesce(p.total, 0) ORDER BY w.id;

-- name: balances follow one another
SELECT 'transaction ' || id || ' of wallet ' || wallet_id || ' leaves ' || balance_after_minor || ', not ' || summed AS fault
  FROM (SELECT t.id, t.wallet_id, t.balance_after_minor,
    sum(iif(t.transaction_type = 'CREDIT', t.amount_minor, -t.amount_minor))
      OVER (PARTITION BY t.wallet_id ORDER BY t.id) AS summed FROM transactions t)
  WHERE balance_after_minor <> summed ORDER BY id;

-- name: transactions match their lines
SELECT 'transaction ' || t.id || ' says ' || iif(t.transaction_type = 'CREDIT', t.amount_minor, -t.amount_minor) ||
    ', the lines of its entry say ' || coalesce(l.amount_minor, 0) AS fault
  FROM transactions t LEFT JOIN (SELECT entry_id, wallet_id, sum(amount_minor) AS amount_minor FROM journal_lines
    WHERE account = 'wallet' GROUP BY entry_id, wallet_id) l
    ON l.entry_id = t.entry_id AND l.wallet_id = t.wallet_id
  WHERE iif(t.transaction_type = 'CREDIT', t.amount_minor, -t.amount_minor) <> coalesce(l.amount_minor, 0) ORDER BY t.id;

-- name: movements of wallets have one transaction
-- The plus signs keep SQLite from an index of the wallet, in which it would read all transactions of the wallet for each row.
SELECT 'ledger entry ' || l.entry_id || ' moves wallet ' || l.wallet_id || ' in ' || count(t.id) || ' transactions' AS fault
  FROM (SELECT entry_id, wallet_id, sum(amount_minor) AS amount_minor FROM journal_lines
    WHERE account = 'wallet' GROUP BY entry_id, wallet_id) l
  LEFT JOIN transactions t ON t.entry_id = l.entry_id AND +t.wallet_id = l.wallet_id
  GROUP BY l.entry_id, l.wallet_id HAVING count(t.id) <> 1 ORDER BY l.entry_id;

-- name: orders were paid for
SELECT 'order ' || o.id || ' is not what transaction ' || o.transaction_id || ' paid' AS fault
  FROM orders o LEFT JOIN transactions t ON t.id = o.transaction_id
  WHERE (t.wallet_id, t.source_type, t.source_id, t.amount_minor) IS NOT (o.wallet_id, 'order', CAST(o.id AS TEXT), o.payable_minor)
    OR t.amount_minor > 0 AND t.transaction_type <> 'DEBIT'
  ORDER BY o.id;

-- name: orders are in a state that their times tell
SELECT 'order ' || id || ' is ' || status || ' with ' || delivered_quantity || ' of ' || quantity || ' delivered' AS fault
  FROM orders WHERE NOT CASE status
    WHEN 'DELIVERED' THEN delivered_quantity = quantity AND delivered_at_ms IS NOT NULL
      AND failed_at_ms IS NULL AND cancelled_at_ms IS NULL
    WHEN 'FAILED' THEN delivered_quantity = 0 AND failed_at_ms IS NOT NULL
      AND delivered_at_ms IS NULL AND cancelled_at_ms IS NULL
    WHEN 'CANCELLED' THEN delivered_quantity = 0 AND cancelled_at_ms IS NOT NULL
      AND delivered_at_ms IS NULL AND failed_at_ms IS NULL
    WHEN 'PARTIALLY_DELIVERED' THEN delivered_quantity BETWEEN 1 AND quantity - 1
      AND delivered_at_ms IS NULL AND cancelled_at_ms IS NULL
    ELSE delivered_quantity = 0 AND coalesce(delivered_at_ms, failed_at_ms, cancelled_at_ms) IS NULL
  END ORDER BY id;

-- name: delivered vouchers are there
SELECT 'order ' || o.id || ' has delivered ' || o.delivered_quantity || ' and holds ' || count(v.id) || ' vouchers' AS fault
  FROM orders o LEFT JOIN vouchers v ON v.order_id = o.id
  GROUP BY o.id HAVING o.delivered_quantity <> count(v.id) ORDER BY o.id;

-- name: codes are handed out once
SELECT 'voucher ' || max(id) || ' of order ' || max(order_id) || ' is the code of voucher ' || min(id) AS fault
  FROM vouchers GROUP BY sealed HAVING count(*) > 1 ORDER BY min(id);

-- name: imported codes go to the order that took them
SELECT 'voucher ' || v.id || ' of order ' || v.order_id || ' is code ' || s.id || ' of the stock, which order ' ||
    coalesce(s.order_id, 'none') || ' took' AS fault
  FROM vouchers v JOIN voucher_stock s ON s.id = v.stock_id JOIN orders o ON o.id = v.order_id
  WHERE (s.order_id, s.product_id, s.denomination_minor) IS NOT (v.order_id, o.product_id, o.denomination_minor)
  ORDER BY v.id;

-- name: orders take as many imported codes as they need
SELECT 'order ' || o.id || ' of ' || o.quantity || ' holds ' || count(s.id) || ' codes of the stock' AS fault
  FROM orders o JOIN voucher_stock s ON s.order_id = o.id GROUP BY o.id
  HAVING count(s.id) <> iif(o.status IN ('FAILED', 'CANCELLED') OR o.failed_at_ms IS NOT NULL,
    o.delivered_quantity, o.quantity) ORDER BY o.id;

-- name: orders have refunded what their transactions say
SELECT 'order ' || o.id || ' has refunded ' || o.refunded_minor || ', its transactions say ' || coalesce(t.total, 0) AS fault
  FROM orders o LEFT JOIN (SELECT client_id, source_id, sum(amount_minor) AS total FROM transactions
    WHERE source_type = 'refund' GROUP BY client_id, source_id) t
    ON t.source_id = CAST(o.id AS TEXT) AND t.client_id = o.client_id
  WHERE o.refunded_minor <> coalesce(t.total, 0) ORDER BY o.id;

-- name: payouts were paid for
SELECT 'payout ' || p.id || ' was paid in ' || count(t.id) || ' transactions of ' || coalesce(sum(t.amount_minor), 0) ||
    ', not in one of ' || p.paid_minor AS fault
  FROM payouts p LEFT JOIN transactions t ON t.source_id = p.id AND t.source_type = 'payout'
    AND t.transaction_type = 'DEBIT' AND +t.wallet_id = p.wallet_id
  GROUP BY p.id HAVING count(t.id) <> 1 OR sum(t.amount_minor) <> p.paid_minor ORDER BY p.id;

-- name: refunds of payouts are whole
SELECT 'payout ' || p.id || ' is ' || p.status || ' and gave ' || coalesce(sum(t.amount_minor), 0) || ' back' AS fault
  FROM payouts p LEFT JOIN transactions t ON t.source_id = p.id AND t.source_type = 'refund'
  GROUP BY p.id HAVING coalesce(sum(t.amount_minor), 0) <>
    CASE WHEN p.status IN ('failed', 'cancelled', 'expired') THEN p.paid_minor WHEN p.returned THEN p.paid_amount_minor ELSE 0 END
  ORDER BY p.id;

-- name: payouts are in a state that their times tell
SELECT 'payout ' || id || ' is ' || status || ', which its times do not tell' AS fault FROM payouts WHERE
  (status = 'completed') <> (completed_at_ms IS NOT NULL)
  OR (status = 'failed') <> (failed_at_ms IS NOT NULL)
  OR (status = 'cancelled') <> (cancelled_at_ms IS NOT NULL)
  OR status = 'created' AND coalesce(queued_at_ms, submitted_at_ms) IS NOT NULL
  OR status IN ('queued', 'processing', 'settling', 'action_required', 'completed', 'failed') AND queued_at_ms IS NULL
  OR status IN ('settling', 'action_required', 'completed') AND submitted_at_ms IS NULL
  OR returned AND status <> 'completed'
  ORDER BY id;

-- name: payouts are where their events led
SELECT 'payout ' || p.id || ' is ' || p.status || ', its last event led to ' || coalesce(e.to_status, 'nothing') AS fault
  FROM payouts p LEFT JOIN (SELECT payout_id, to_status, max(id) FROM payout_events GROUP BY payout_id) e ON e.payout_id = p.id
  WHERE e.to_status IS NOT p.status ORDER BY p.id;

-- name: events of payouts follow one another
SELECT 'event ' || id || ' of payout ' || payout_id || ' starts from ' || coalesce(from_status, 'nothing') ||
    ', not from ' || coalesce(before, 'nothing') AS fault
  FROM (SELECT id, payout_id, from_status, lag(to_status) OVER (PARTITION BY payout_id ORDER BY id) AS before FROM payout_events)
  WHERE from_status IS NOT before ORDER BY id;

-- name: totals of beneficiaries count their completed payouts
-- The sums are computed once: looked up by client and status, each beneficiary would read all that are completed.
SELECT 'beneficiary ' || b.id || ' has ' || b.total_payouts || ' payouts of ' || b.total_amount_minor || ', not ' ||
    coalesce(p.payouts, 0) || ' of ' || coalesce(p.amount_minor, 0) AS fault
  FROM beneficiaries b LEFT JOIN (SELECT beneficiary_id, client_id, count(*) AS payouts,
      sum(beneficiary_total_minor) AS amount_minor, max(completed_at_ms) AS last_at_ms
    FROM payouts WHERE status = 'completed' AND beneficiary_id IS NOT NULL GROUP BY beneficiary_id, client_id) p
    ON p.beneficiary_id = b.id AND p.client_id = b.client_id
  WHERE (b.total_payouts, b.total_amount_minor, b.last_payout_at_ms)
    IS NOT (coalesce(p.payouts, 0), coalesce(p.amount_minor, 0), p.last_at_ms)
  ORDER BY b.id;

-- name: clients with wallets have a default one
SELECT 'client ' || client_id || ' has no default wallet' AS fault
  FROM wallets GROUP BY client_id HAVING sum(is_default) <> 1 ORDER BY client_id;

-- name: transactions are of the client of their wallet
SELECT 'transaction ' || t.id || ' is of client ' || t.client_id || ', its wallet of client ' || w.client_id AS fault
  FROM transactions t JOIN wallets w ON w.id = t.wallet_id WHERE t.client_id <> w.client_id ORDER BY t.id;

-- name: wallets know whether they are low
SELECT 'wallet ' || id || iif(is_low, ' is low with ', ' is not low with ') || amount_minor || ', its threshold is ' ||
    coalesce(threshold_minor, 'none') AS fault
  FROM wallets WHERE is_low <> coalesce(amount_minor < threshold_minor, 0) ORDER BY id;

-- name: the first delivery of each record is due
SELECT 'delivery ' || min(id) || ' of webhook ' || webhook_id || ' waits for nothing' AS fault
  FROM webhook_queue WHERE NOT held GROUP BY webhook_id, record HAVING count(due_at_ms) = 0 ORDER BY min(id);

-- name: what was due is done
-- A step that failed is set aside. What is written later is written after everything that is due.
SELECT kind || ' ' || id || ' was due at ' || strftime('%Y-%m-%dT%H:%M:%SZ', due_at_ms / 1000, 'unixepoch') AS fault
  FROM (SELECT 'order' AS kind, CAST(id AS TEXT) AS id, due_at_ms FROM orders
    UNION ALL SELECT 'payout', id, due_at_ms FROM payouts)
  WHERE due_at_ms < (SELECT created_at_ms - 86400000 FROM journal_entries ORDER BY id DESC LIMIT 1)
    AND (SELECT user_version FROM pragma_user_version) = 2 ORDER BY due_at_ms;
