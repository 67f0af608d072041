-- Where the clock of a kept sandbox stands, once it was moved (contract C15): one row.
CREATE TABLE moved_clock (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  offset_ms    INTEGER NOT NULL,
  frozen_at_ms INTEGER
) STRICT;

-- The double-entry ledger (contract C11). An account is a kind, a currency and, for what belongs to a client, a
-- wallet. Amounts are signed minor units; what a line adds to one account another line of the entry takes away.
CREATE TABLE journal_entries (
  id            INTEGER PRIMARY KEY,
  source_type   TEXT NOT NULL CHECK (source_type IN ('order', 'payout', 'refund', 'funding', 'adjustment')),
  source_id     TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE journal_lines (
  id           INTEGER PRIMARY KEY,
  entry_id     INTEGER NOT NULL REFERENCES journal_entries (id) DEFERRABLE INITIALLY DEFERRED,
  account      TEXT NOT NULL CHECK (account IN (
    'wallet', 'reserved', 'supplier', 'payouts', 'tax', 'fees', 'conversion', 'exchange', 'funding', 'adjustments'
  )),
  wallet_id    INTEGER REFERENCES wallets (id),
  currency_id  INTEGER NOT NULL REFERENCES currencies (id),
  amount_minor INTEGER NOT NULL CHECK (amount_minor <> 0),
  CHECK ((account IN ('wallet', 'reserved')) = (wallet_id IS NOT NULL))
) STRICT;
CREATE INDEX journal_lines_entry ON journal_lines (entry_id);
CREATE INDEX journal_lines_wallet ON journal_lines (wallet_id, account, id) WHERE wallet_id IS NOT NULL;

-- Lines come first and the entry seals them: it must balance in every currency, and takes no further line.
CREATE TRIGGER journal_entries_balance BEFORE INSERT ON journal_entries
WHEN EXISTS (SELECT 1 FROM journal_lines WHERE entry_id = NEW.id GROUP BY currency_id HAVING sum(amount_minor) <> 0)
BEGIN SELECT RAISE(ABORT, 'a journal entry must balance'); END;
CREATE TRIGGER journal_lines_sealed BEFORE INSERT ON journal_lines
WHEN EXISTS (SELECT 1 FROM journal_entries WHERE id = NEW.entry_id)
BEGIN SELECT RAISE(ABORT, 'a journal entry takes no further line'); END;
CREATE TRIGGER journal_lines_currency BEFORE INSERT ON journal_lines
WHEN NEW.wallet_id IS NOT NULL AND NEW.currency_id <> (SELECT currency_id FROM wallets WHERE id = NEW.wallet_id)
BEGIN SELECT RAISE(ABORT, 'a wallet holds one currency'); END;

-- Entries and lines are never changed or deleted; a correction is a new entry.
CREATE TRIGGER journal_entries_kept BEFORE DELETE ON journal_entries BEGIN SELECT RAISE(ABORT, 'journal entries are kept'); END;
CREATE TRIGGER journal_entries_fixed BEFORE UPDATE ON journal_entries BEGIN SELECT RAISE(ABORT, 'journal entries are final'); END;
CREATE TRIGGER journal_lines_kept BEFORE DELETE ON journal_lines BEGIN SELECT RAISE(ABORT, 'journal lines are kept'); END;
CREATE TRIGGER journal_lines_fixed BEFORE UPDATE ON journal_lines BEGIN SELECT RAISE(ABORT, 'journal lines are final'); END;

-- A wallet's amounts are the sums of its lines, kept beside it.
ALTER TABLE wallets ADD COLUMN reserved_minor INTEGER NOT NULL DEFAULT 0 CHECK (reserved_minor >= 0);
CREATE TRIGGER wallets_spendable AFTER INSERT ON journal_lines WHEN NEW.account = 'wallet'
BEGIN UPDATE wallets SET amount_minor = amount_minor + NEW.amount_minor WHERE id = NEW.wallet_id; END;
CREATE TRIGGER wallets_reserved AFTER INSERT ON journal_lines WHEN NEW.account = 'reserved'
BEGIN UPDATE wallets SET reserved_minor = reserved_minor + NEW.amount_minor WHERE id = NEW.wallet_id; END;

-- What a client sees of the ledger: one row for each movement of a wallet. The rank is the amount in major units, for amounts
-- of different currencies to compare.
CREATE TABLE transactions (
  id                   INTEGER PRIMARY KEY,
  wallet_id            INTEGER NOT NULL REFERENCES wallets (id),
  client_id            INTEGER NOT NULL REFERENCES clients (id),
  entry_id             INTEGER NOT NULL REFERENCES journal_entries (id),
  amount_minor         INTEGER NOT NULL CHECK (amount_minor >= 0),
  transaction_type     TEXT NOT NULL CHECK (transaction_type IN ('CREDIT', 'DEBIT')),
  status               TEXT NOT NULL CHECK (status IN ('PENDING', 'COMPLETED', 'FAILED')),
  source_currency      TEXT,
  destination_currency TEXT,
  rate_e8              INTEGER,
  conversion_minor     INTEGER,
  balance_after_minor  INTEGER NOT NULL,
  source_type          TEXT NOT NULL CHECK (source_type IN ('order', 'payout', 'refund', 'funding', 'adjustment')),
  source_id            TEXT,
  remarks              TEXT,
  created_at_ms        INTEGER NOT NULL,
  amount_rank          REAL NOT NULL
) STRICT;
CREATE INDEX transactions_wallet ON transactions (client_id, wallet_id, id);
CREATE TRIGGER transactions_kept BEFORE DELETE ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are kept'); END;
CREATE TRIGGER transactions_fixed BEFORE UPDATE ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;

-- Exchange rates of live mode: units of each currency, in 1e-8, for one unit of the base, which is among them as 1.
CREATE TABLE exchange_rates (
  currency    TEXT PRIMARY KEY REFERENCES currencies (currency),
  per_base_e8 INTEGER NOT NULL CHECK (per_base_e8 > 0),
  is_base     INTEGER NOT NULL CHECK (is_base IN (0, 1)),
  CHECK (is_base = 0 OR per_base_e8 = 100000000)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX exchange_rates_base ON exchange_rates (is_base) WHERE is_base = 1;

-- Orders and vouchers (contract C12). Amounts of the product in its currency, of the payment in the wallet's.
CREATE TABLE orders (
  id                 INTEGER PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  reference          TEXT NOT NULL,
  product_id         INTEGER NOT NULL,
  product_name       TEXT NOT NULL,
  currency_id        INTEGER NOT NULL REFERENCES currencies (id),
  denomination_minor INTEGER NOT NULL CHECK (denomination_minor > 0),
  quantity           INTEGER NOT NULL CHECK (quantity > 0),
  delivered_quantity INTEGER NOT NULL DEFAULT 0 CHECK (delivered_quantity BETWEEN 0 AND quantity),
  email              TEXT,
  wallet_id          INTEGER NOT NULL REFERENCES wallets (id),
  transaction_id     INTEGER NOT NULL REFERENCES transactions (id),
  total_minor        INTEGER NOT NULL,
  discount_minor     INTEGER NOT NULL,
  net_minor          INTEGER NOT NULL,
  gst_minor          INTEGER NOT NULL,
  fee_minor          INTEGER NOT NULL,
  conversion_minor   INTEGER,
  payable_minor      INTEGER NOT NULL CHECK (payable_minor >= 0),
  charges            TEXT NOT NULL CHECK (json_valid(charges)),
  status             TEXT NOT NULL CHECK (status IN (
    'PENDING', 'PROCESSING', 'DELIVERED', 'PARTIALLY_DELIVERED', 'FAILED', 'CANCELLED'
  )),
  failure_reason     TEXT,
  due_at_ms          INTEGER,
  placed_at_ms       INTEGER NOT NULL,
  delivered_at_ms    INTEGER,
  failed_at_ms       INTEGER,
  cancelled_at_ms    INTEGER,
  UNIQUE (client_id, reference)
) STRICT;
CREATE INDEX orders_client ON orders (client_id, id);
CREATE INDEX orders_due ON orders (due_at_ms, id) WHERE due_at_ms IS NOT NULL;

-- Codes at rest are sealed; the key is not in the database.
CREATE TABLE vouchers (
  id            INTEGER PRIMARY KEY,
  order_id      INTEGER NOT NULL REFERENCES orders (id),
  reference     TEXT NOT NULL UNIQUE,
  sealed        BLOB NOT NULL,
  expires_at_ms INTEGER
) STRICT;
CREATE INDEX vouchers_order ON vouchers (order_id, id);

-- Imported codes, each handed out once; and how much of a counted stock the orders have taken.
CREATE TABLE voucher_stock (
  id                 INTEGER PRIMARY KEY,
  product_id         INTEGER NOT NULL,
  denomination_minor INTEGER NOT NULL CHECK (denomination_minor > 0),
  fingerprint        TEXT NOT NULL UNIQUE,
  sealed             BLOB NOT NULL,
  expires_at_ms      INTEGER,
  order_id           INTEGER REFERENCES orders (id)
) STRICT;
CREATE INDEX voucher_stock_free ON voucher_stock (product_id, denomination_minor, id) WHERE order_id IS NULL;
CREATE INDEX voucher_stock_order ON voucher_stock (order_id, id) WHERE order_id IS NOT NULL;
-- Which key seals the codes: a mark that tells it from another, and nothing more.
CREATE TABLE voucher_key (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL
) STRICT;
CREATE TABLE stock_taken (
  product_id INTEGER PRIMARY KEY,
  quantity   INTEGER NOT NULL CHECK (quantity >= 0)
) STRICT;

-- Payouts (contract C13). Amounts in the payout's currency; what the wallet paid in the wallet's.
CREATE TABLE payouts (
  id                       TEXT PRIMARY KEY,
  client_id                INTEGER NOT NULL REFERENCES clients (id),
  reference_id             TEXT NOT NULL,
  status                   TEXT NOT NULL CHECK (status IN (
    'created', 'queued', 'processing', 'settling', 'completed', 'failed', 'action_required', 'cancelled', 'expired'
  )),
  wallet_id                INTEGER NOT NULL REFERENCES wallets (id),
  currency_id              INTEGER NOT NULL REFERENCES currencies (id),
  amount_minor             INTEGER NOT NULL CHECK (amount_minor > 0),
  amount_rank              INTEGER NOT NULL,
  fees_minor               INTEGER NOT NULL CHECK (fees_minor >= 0),
  rate_e8                  INTEGER,
  paid_minor               INTEGER NOT NULL CHECK (paid_minor > 0),
  paid_amount_minor        INTEGER NOT NULL CHECK (paid_amount_minor >= 0),
  paid_conversion_minor    INTEGER,
  beneficiary_total_minor  INTEGER NOT NULL CHECK (beneficiary_total_minor >= 0),
  beneficiary_id           TEXT,
  beneficiary_email        TEXT NOT NULL,
  beneficiary_first_name   TEXT NOT NULL,
  beneficiary_last_name    TEXT NOT NULL,
  beneficiary_country      TEXT,
  beneficiary_phone        TEXT,
  beneficiary_identifiers  TEXT CHECK (json_valid(beneficiary_identifiers)),
  search_folded            TEXT NOT NULL,
  description              TEXT,
  metadata                 TEXT NOT NULL CHECK (json_valid(metadata)),
  failure_code             TEXT,
  failure_reason           TEXT,
  returned                 INTEGER NOT NULL DEFAULT 0 CHECK (returned IN (0, 1)),
  due_at_ms                INTEGER,
  due_event                TEXT,
  created_at_ms            INTEGER NOT NULL,
  queued_at_ms             INTEGER,
  submitted_at_ms          INTEGER,
  completed_at_ms          INTEGER,
  failed_at_ms             INTEGER,
  cancelled_at_ms          INTEGER,
  UNIQUE (client_id, reference_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payouts_created ON payouts (client_id, created_at_ms, id);
CREATE INDEX payouts_due ON payouts (due_at_ms, id) WHERE due_at_ms IS NOT NULL;

CREATE TABLE payout_events (
  id            INTEGER PRIMARY KEY,
  payout_id     TEXT NOT NULL REFERENCES payouts (id),
  event_type    TEXT NOT NULL,
  from_status   TEXT,
  to_status     TEXT NOT NULL,
  actor_type    TEXT NOT NULL CHECK (actor_type IN ('system', 'client', 'operator')),
  message       TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX payout_events_payout ON payout_events (payout_id, id);
CREATE TRIGGER payout_events_kept BEFORE DELETE ON payout_events BEGIN SELECT RAISE(ABORT, 'payout events are kept'); END;
CREATE TRIGGER payout_events_fixed BEFORE UPDATE ON payout_events BEGIN SELECT RAISE(ABORT, 'payout events are final'); END;
