-- A person can be taken out of payouts, and out of remarks and messages, which are final otherwise (contract C17).
ALTER TABLE payouts ALTER COLUMN beneficiary_email DROP NOT NULL;
ALTER TABLE payouts ALTER COLUMN beneficiary_first_name DROP NOT NULL;
ALTER TABLE payouts ALTER COLUMN beneficiary_last_name DROP NOT NULL;

DROP TRIGGER transactions_fixed;
CREATE TRIGGER transactions_fixed BEFORE UPDATE OF
  id, wallet_id, client_id, entry_id, amount_minor, transaction_type, status, source_currency, destination_currency, rate_e8,
  conversion_minor, balance_after_minor, source_type, source_id, created_at_ms, amount_rank
ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;
CREATE TRIGGER transactions_remarks_fixed BEFORE UPDATE OF remarks ON transactions WHEN NEW.remarks IS NOT 'erased'
BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;
DROP TRIGGER payout_events_fixed;
CREATE TRIGGER payout_events_fixed BEFORE UPDATE OF
  id, payout_id, event_type, from_status, to_status, actor_type, created_at_ms
ON payout_events BEGIN SELECT RAISE(ABORT, 'payout events are final'); END;
CREATE TRIGGER payout_events_messages_fixed BEFORE UPDATE OF message ON payout_events WHEN NEW.message IS NOT 'erased'
BEGIN SELECT RAISE(ABORT, 'payout events are final'); END;
