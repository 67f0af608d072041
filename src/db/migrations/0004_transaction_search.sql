-- What a search for transactions reads (contract C7): source_id and remarks in lower case, NUL between them. It stands in the
-- index of the usual order, so that a search reads no rows. SQLite knows the lower case of ASCII; the program writes the rest.
ALTER TABLE transactions ADD COLUMN search_folded TEXT NOT NULL DEFAULT '';
DROP TRIGGER transactions_fixed;
UPDATE transactions SET search_folded = lower(coalesce(source_id, '') || char(0) || coalesce(remarks, ''));
CREATE TRIGGER transactions_fixed BEFORE UPDATE OF
  id, wallet_id, client_id, entry_id, amount_minor, transaction_type, status, source_currency, destination_currency, rate_e8,
  conversion_minor, balance_after_minor, source_type, source_id, remarks, created_at_ms, amount_rank
ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;
DROP INDEX transactions_client;
CREATE INDEX transactions_client
  ON transactions (client_id, id, transaction_type, status, source_type, wallet_id, created_at_ms, search_folded);
