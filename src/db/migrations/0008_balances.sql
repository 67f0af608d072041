-- The ledger's own code moves balances; the database refuses a transaction that does not say what its wallet then holds.
DROP TRIGGER wallets_spendable;
DROP TRIGGER wallets_reserved;
CREATE TRIGGER transactions_balance BEFORE INSERT ON transactions
WHEN NEW.balance_after_minor IS NOT (SELECT amount_minor FROM wallets WHERE id = NEW.wallet_id)
BEGIN SELECT RAISE(ABORT, 'a transaction says what its wallet holds'); END;
