/**
 * The first schema: each table, its indexes, and the triggers that refuse. Never edited once released. The columns of
 * the program are made of it (`db/columns.ts`).
 */

/** `IN` with more than two values fills a temporary table for each row that is written (decision 46). */
export const isAmong = (column: string, values: readonly string[]): string =>
  `(${values.map((value) => `${column} = '${value}'`).join(' OR ')})`

const SOURCE_TYPES = ['order', 'payout', 'refund', 'funding', 'adjustment']
const ACCOUNTS = [
  ...['wallet', 'reserved', 'supplier', 'payouts', 'tax', 'fees', 'conversion', 'exchange'],
  ...['funding', 'adjustments'],
]
const OPEN_PAYOUTS = ['created', 'queued', 'processing', 'settling', 'action_required']
const PAYOUT_STATUSES = [
  ...['created', 'queued', 'processing', 'settling', 'completed', 'failed', 'action_required', 'cancelled'],
  'expired',
]
export const OPEN_ORDERS = ['PENDING', 'PROCESSING', 'PARTIALLY_DELIVERED']
const ORDER_STATUSES = ['PENDING', 'PROCESSING', 'DELIVERED', 'PARTIALLY_DELIVERED', 'FAILED', 'CANCELLED']

export const schema = {
  /** The seeds of the program that have been written, by their digest. */
  seeds: `CREATE TABLE seeds (
  name   TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;`,

  /** Reference data (spec 2.3 to 2.5). Ids are published and never change. */
  countries: `CREATE TABLE countries (
  id             INTEGER PRIMARY KEY,
  name           TEXT NOT NULL,
  official_name  TEXT NOT NULL,
  alpha_2        TEXT NOT NULL UNIQUE CHECK (length(alpha_2) = 2),
  alpha_3        TEXT NOT NULL UNIQUE CHECK (length(alpha_3) = 3),
  numeric_code   TEXT NOT NULL UNIQUE CHECK (length(numeric_code) = 3),
  dialing_prefix TEXT NOT NULL CHECK (dialing_prefix LIKE '+%')
) STRICT;`,

  currencies: `CREATE TABLE currencies (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  currency  TEXT NOT NULL UNIQUE CHECK (length(currency) = 3),
  precision INTEGER NOT NULL CHECK (precision BETWEEN 0 AND 4)
) STRICT;`,

  categories: `CREATE TABLE categories (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL UNIQUE,
  active INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;`,

  subcategories: `CREATE TABLE subcategories (
  id          INTEGER PRIMARY KEY,
  category_id INTEGER NOT NULL REFERENCES categories (id),
  name        TEXT NOT NULL UNIQUE,
  active      INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;`,

  /** The catalog (spec 2.2, contract C8). Amounts are in minor units of the product's currency. */
  products: `CREATE TABLE products (
  id                       INTEGER PRIMARY KEY,
  name                     TEXT NOT NULL,
  category                 TEXT NOT NULL,
  sub_category             TEXT NOT NULL,
  country_id               INTEGER NOT NULL REFERENCES countries (id),
  currency_id              INTEGER NOT NULL REFERENCES currencies (id),
  image_url                TEXT,
  delivery_mode            TEXT NOT NULL CHECK (delivery_mode IN ('digital', 'physical')),
  delivery_time            TEXT NOT NULL,
  validity                 TEXT NOT NULL,
  terms                    TEXT NOT NULL,
  details                  TEXT NOT NULL,
  how_to_use               TEXT NOT NULL,
  active                   INTEGER NOT NULL CHECK (active IN (0, 1)),
  stock                    INTEGER CHECK (stock >= 0),
  quantity_max             INTEGER NOT NULL CHECK (quantity_max >= 1),
  gst_basis_points         INTEGER NOT NULL CHECK (gst_basis_points BETWEEN 0 AND 10000),
  fee_fixed_minor          INTEGER NOT NULL CHECK (fee_fixed_minor >= 0),
  fee_basis_points         INTEGER NOT NULL CHECK (fee_basis_points BETWEEN 0 AND 10000)
) STRICT;`,

  product_bands: `CREATE TABLE product_bands (
  product_id            INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  position              INTEGER NOT NULL,
  min_minor             INTEGER NOT NULL CHECK (min_minor > 0),
  max_minor             INTEGER NOT NULL CHECK (max_minor >= min_minor),
  discount_basis_points INTEGER NOT NULL CHECK (discount_basis_points BETWEEN 0 AND 10000),
  PRIMARY KEY (product_id, position)
) STRICT, WITHOUT ROWID;`,

  /** Clients and their wallets (contract C2, C3, C11). */
  clients: `CREATE TABLE clients (
  id                          INTEGER PRIMARY KEY,
  username                    TEXT NOT NULL UNIQUE,
  password_sha256             TEXT NOT NULL,
  -- The password before the last rotation, while it is still good.
  old_password_sha256         TEXT,
  old_password_until_ms       INTEGER,
  vouchers                    INTEGER NOT NULL CHECK (vouchers IN (0, 1)),
  quantity_max                INTEGER CHECK (quantity_max >= 1),
  -- Rate limits, as in --rate-limit, and fees of this client alone; null where those of the server hold.
  rate_limit                  TEXT,
  conversion_fee_basis_points INTEGER CHECK (conversion_fee_basis_points BETWEEN 0 AND 10000),
  payout_fee_basis_points     INTEGER CHECK (payout_fee_basis_points BETWEEN 0 AND 10000),
  disabled                    INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  -- Logins up to this number are revoked: a logout writes one row, however many logins it ends.
  revoked_through             INTEGER NOT NULL DEFAULT 0,
  created_at_ms               INTEGER NOT NULL
) STRICT;`,

  client_discounts: `CREATE TABLE client_discounts (
  client_id             INTEGER NOT NULL REFERENCES clients (id),
  product_id            INTEGER NOT NULL,
  discount_basis_points INTEGER NOT NULL CHECK (discount_basis_points BETWEEN 0 AND 10000),
  PRIMARY KEY (client_id, product_id)
) STRICT, WITHOUT ROWID;`,

  /** One row for each login: the family of tokens that descends from it (contract C3). A client's logins are numbered. */
  logins: `CREATE TABLE logins (
  id                 TEXT PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  number             INTEGER NOT NULL CHECK (number >= 1),
  refresh_generation INTEGER NOT NULL,
  expires_at_ms      INTEGER NOT NULL,
  revoked            INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX logins_number ON logins (client_id, number);
CREATE INDEX logins_expiry ON logins (expires_at_ms);`,

  /** Responses by Idempotency-Key (contract C14). The body is JSON, or encrypted where it holds voucher codes or a secret. */
  idempotency_keys: `CREATE TABLE idempotency_keys (
  client_id      INTEGER NOT NULL REFERENCES clients (id),
  key            TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  status         INTEGER NOT NULL,
  body           TEXT NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  PRIMARY KEY (client_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at_ms);`,

  wallets: `CREATE TABLE wallets (
  id                 INTEGER PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  currency_id        INTEGER NOT NULL REFERENCES currencies (id),
  -- Amounts of different currencies compare in major units.
  minor_per_major    INTEGER NOT NULL DEFAULT 100 CHECK (minor_per_major > 0),
  type               TEXT NOT NULL CHECK (type IN ('PREPAID', 'POSTPAID')),
  amount_minor       INTEGER NOT NULL,
  reserved_minor     INTEGER NOT NULL DEFAULT 0 CHECK (reserved_minor >= 0),
  credit_limit_minor INTEGER NOT NULL DEFAULT 0 CHECK (credit_limit_minor >= 0),
  -- A wallet is low once its amount is below its threshold, until it no longer is.
  threshold_minor    INTEGER,
  is_low             INTEGER NOT NULL DEFAULT 0 CHECK (is_low IN (0, 1)),
  is_default         INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  -- A closed wallet pays nothing.
  closed_at_ms       INTEGER,
  created_at_ms      INTEGER NOT NULL,
  updated_at_ms      INTEGER NOT NULL,
  CHECK (amount_minor >= -credit_limit_minor)
) STRICT;
CREATE INDEX wallets_client ON wallets (client_id, id);
CREATE INDEX wallets_amount ON wallets (client_id, amount_minor * 1.0 / minor_per_major, id);
CREATE INDEX wallets_currency ON wallets (client_id, currency_id, id);
CREATE INDEX wallets_type ON wallets (client_id, type, id);
CREATE INDEX wallets_open ON wallets (client_id, closed_at_ms IS NULL, id);
CREATE UNIQUE INDEX wallets_default ON wallets (client_id) WHERE is_default = 1;
CREATE INDEX wallets_low ON wallets (id) WHERE is_low = 1;`,

  /**
   * The double-entry ledger (contract C11). An account is a kind, a currency and, for money of a client, a wallet. Amounts
   * are signed minor units; the lines of an entry add up to zero.
   */
  journal_entries: `CREATE TABLE journal_entries (
  id            INTEGER PRIMARY KEY,
  source_type   TEXT NOT NULL CHECK ${isAmong('source_type', SOURCE_TYPES)},
  source_id     TEXT,
  created_at_ms INTEGER NOT NULL
) STRICT;
-- Lines come first and the entry ciphers them: it must balance in every currency, and takes no further line.
CREATE TRIGGER journal_entries_balance BEFORE INSERT ON journal_entries
WHEN EXISTS (SELECT 1 FROM journal_lines WHERE entry_id = NEW.id GROUP BY currency_id HAVING sum(amount_minor) <> 0)
BEGIN SELECT RAISE(ABORT, 'a journal entry must balance'); END;
-- Entries and lines are never changed or deleted; a correction is a new entry.
CREATE TRIGGER journal_entries_fixed BEFORE UPDATE ON journal_entries BEGIN SELECT RAISE(ABORT, 'journal entries are final'); END;
CREATE TRIGGER journal_entries_kept BEFORE DELETE ON journal_entries BEGIN SELECT RAISE(ABORT, 'journal entries are kept'); END;`,

  journal_lines: `CREATE TABLE journal_lines (
  id           INTEGER PRIMARY KEY,
  entry_id     INTEGER NOT NULL REFERENCES journal_entries (id) DEFERRABLE INITIALLY DEFERRED,
  account      TEXT NOT NULL CHECK ${isAmong('account', ACCOUNTS)},
  wallet_id    INTEGER REFERENCES wallets (id),
  currency_id  INTEGER NOT NULL REFERENCES currencies (id),
  amount_minor INTEGER NOT NULL CHECK (amount_minor <> 0),
  CHECK ((account IN ('wallet', 'reserved')) = (wallet_id IS NOT NULL))
) STRICT;
CREATE INDEX journal_lines_entry ON journal_lines (entry_id);
CREATE INDEX journal_lines_wallet ON journal_lines (wallet_id, account, id) WHERE wallet_id IS NOT NULL;
CREATE TRIGGER journal_lines_currency BEFORE INSERT ON journal_lines
WHEN NEW.wallet_id IS NOT NULL AND NEW.currency_id <> (SELECT currency_id FROM wallets WHERE id = NEW.wallet_id)
BEGIN SELECT RAISE(ABORT, 'a wallet holds one currency'); END;
CREATE TRIGGER journal_lines_fixed BEFORE UPDATE ON journal_lines BEGIN SELECT RAISE(ABORT, 'journal lines are final'); END;
CREATE TRIGGER journal_lines_kept BEFORE DELETE ON journal_lines BEGIN SELECT RAISE(ABORT, 'journal lines are kept'); END;
CREATE TRIGGER journal_lines_sealed BEFORE INSERT ON journal_lines
WHEN EXISTS (SELECT 1 FROM journal_entries WHERE id = NEW.entry_id)
BEGIN SELECT RAISE(ABORT, 'a journal entry takes no further line'); END;`,

  /**
   * The part of the ledger that a client sees: one row for each movement of a wallet. The rank is the amount in major units, which
   * compares amounts of different currencies.
   */
  transactions: `CREATE TABLE transactions (
  id                   INTEGER PRIMARY KEY,
  wallet_id            INTEGER NOT NULL REFERENCES wallets (id),
  client_id            INTEGER NOT NULL REFERENCES clients (id),
  currency_id          INTEGER NOT NULL REFERENCES currencies (id),
  entry_id             INTEGER NOT NULL REFERENCES journal_entries (id),
  amount_minor         INTEGER NOT NULL CHECK (amount_minor >= 0),
  transaction_type     TEXT NOT NULL CHECK (transaction_type IN ('CREDIT', 'DEBIT')),
  status               TEXT NOT NULL CHECK ${isAmong('status', ['PENDING', 'COMPLETED', 'FAILED'])},
  source_currency      TEXT,
  destination_currency TEXT,
  source_rate_e8       INTEGER CHECK (source_rate_e8 > 0),
  destination_rate_e8  INTEGER CHECK (destination_rate_e8 > 0),
  conversion_minor     INTEGER,
  balance_after_minor  INTEGER NOT NULL,
  source_type          TEXT NOT NULL CHECK ${isAmong('source_type', SOURCE_TYPES)},
  source_id            TEXT,
  remarks              TEXT,
  created_at_ms        INTEGER NOT NULL,
  amount_rank          REAL NOT NULL,
  search_folded        TEXT NOT NULL
) STRICT;
CREATE INDEX transactions_client
  ON transactions (client_id, id, transaction_type, status, source_type, wallet_id, currency_id, created_at_ms, search_folded);
CREATE INDEX transactions_created
  ON transactions (client_id, created_at_ms, id, transaction_type, status, source_type, wallet_id, currency_id, search_folded);
CREATE INDEX transactions_amount
  ON transactions (client_id, amount_rank, id, transaction_type, status, source_type, wallet_id, currency_id, created_at_ms, search_folded);
CREATE INDEX transactions_time ON transactions (created_at_ms);
CREATE INDEX transactions_wallet ON transactions (client_id, wallet_id, id);
CREATE INDEX transactions_statement ON transactions (wallet_id, created_at_ms, id);
CREATE INDEX transactions_currency ON transactions (client_id, currency_id, id);
CREATE INDEX transactions_type ON transactions (client_id, transaction_type, id);
CREATE INDEX transactions_source ON transactions (client_id, source_type, id);
-- The ledger's own code moves balances; the database refuses a transaction that does not say what its wallet then holds.
CREATE TRIGGER transactions_balance BEFORE INSERT ON transactions
WHEN NEW.balance_after_minor IS NOT (SELECT amount_minor FROM wallets WHERE id = NEW.wallet_id)
BEGIN SELECT RAISE(ABORT, 'a transaction says what its wallet holds'); END;
CREATE TRIGGER transactions_fixed BEFORE UPDATE OF
  id, wallet_id, client_id, currency_id, entry_id, amount_minor, transaction_type, status, source_currency,
  destination_currency, source_rate_e8, destination_rate_e8, conversion_minor, balance_after_minor, source_type, source_id, created_at_ms, amount_rank
ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;
CREATE TRIGGER transactions_kept BEFORE DELETE ON transactions BEGIN SELECT RAISE(ABORT, 'transactions are kept'); END;
-- A person can be taken out of remarks, and out of the messages of payouts, which are final otherwise (contract C17).
CREATE TRIGGER transactions_remarks_fixed BEFORE UPDATE OF remarks ON transactions WHEN NEW.remarks IS NOT 'erased'
BEGIN SELECT RAISE(ABORT, 'transactions are final'); END;`,

  /** Exchange rates of live mode: units of each currency, in 1e-8, for one unit of the base, which is among them as 1. */
  exchange_rates: `CREATE TABLE exchange_rates (
  currency    TEXT PRIMARY KEY REFERENCES currencies (currency),
  per_base_e8 INTEGER NOT NULL CHECK (per_base_e8 > 0),
  is_base     INTEGER NOT NULL CHECK (is_base IN (0, 1)),
  CHECK (is_base = 0 OR per_base_e8 = 100000000)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX exchange_rates_base ON exchange_rates (is_base) WHERE is_base = 1;`,

  /** Saved beneficiaries (spec 2.1, contract C10). Search and order compare the folded columns. */
  beneficiaries: `CREATE TABLE beneficiaries (
  id                 TEXT PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  email              TEXT NOT NULL,
  first_name         TEXT NOT NULL,
  last_name          TEXT NOT NULL,
  email_folded       TEXT NOT NULL,
  first_name_folded  TEXT NOT NULL,
  last_name_folded   TEXT NOT NULL,
  search_folded      TEXT NOT NULL,
  country            TEXT REFERENCES countries (alpha_2),
  phone              TEXT,
  metadata           TEXT NOT NULL CHECK (json_valid(metadata)),
  total_payouts      INTEGER NOT NULL DEFAULT 0,
  total_amount_minor INTEGER NOT NULL DEFAULT 0,
  last_payout_at_ms  INTEGER,
  created_at_ms      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- An index for each order of the list. Each ends with what a search reads. Ids sort by creation.
CREATE INDEX beneficiaries_client ON beneficiaries (client_id, id, search_folded);
CREATE INDEX beneficiaries_created ON beneficiaries (created_at_ms, id);
CREATE INDEX beneficiaries_email ON beneficiaries (client_id, email_folded, email, id, search_folded);
CREATE INDEX beneficiaries_first_name ON beneficiaries (client_id, first_name_folded, first_name, id, search_folded);
CREATE INDEX beneficiaries_last_name ON beneficiaries (client_id, last_name_folded, last_name, id, search_folded);
CREATE INDEX beneficiaries_country ON beneficiaries (client_id, country, id, search_folded);
CREATE INDEX beneficiaries_payouts ON beneficiaries (client_id, total_payouts, id, search_folded);
CREATE INDEX beneficiaries_amount ON beneficiaries (client_id, total_amount_minor, id, search_folded);
CREATE INDEX beneficiaries_last_payout ON beneficiaries (client_id, last_payout_at_ms, id, search_folded);`,

  /** Payouts (contract C13). Amounts are in the payout's currency; the payment of the wallet is in the wallet's. */
  payouts: `CREATE TABLE payouts (
  id                       TEXT PRIMARY KEY,
  client_id                INTEGER NOT NULL REFERENCES clients (id),
  reference_id             TEXT NOT NULL,
  status                   TEXT NOT NULL CHECK ${isAmong('status', PAYOUT_STATUSES)},
  wallet_id                INTEGER NOT NULL REFERENCES wallets (id),
  currency_id              INTEGER NOT NULL REFERENCES currencies (id),
  amount_minor             INTEGER NOT NULL CHECK (amount_minor > 0),
  amount_rank              INTEGER NOT NULL,
  fees_minor               INTEGER NOT NULL CHECK (fees_minor >= 0),
  source_rate_e8           INTEGER CHECK (source_rate_e8 > 0),
  destination_rate_e8      INTEGER CHECK (destination_rate_e8 > 0),
  paid_minor               INTEGER NOT NULL CHECK (paid_minor > 0),
  paid_amount_minor        INTEGER NOT NULL CHECK (paid_amount_minor >= 0),
  paid_conversion_minor    INTEGER,
  beneficiary_total_minor  INTEGER NOT NULL CHECK (beneficiary_total_minor >= 0),
  beneficiary_id           TEXT,
  -- Null once the person is erased, as are the names.
  beneficiary_email        TEXT,
  beneficiary_first_name   TEXT,
  beneficiary_last_name    TEXT,
  beneficiary_country      TEXT,
  beneficiary_phone        TEXT,
  beneficiary_identifiers  TEXT CHECK (beneficiary_identifiers IS NULL OR json_valid(beneficiary_identifiers)),
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
CREATE INDEX payouts_client ON payouts (client_id, id, search_folded);
CREATE INDEX payouts_amount ON payouts (client_id, amount_rank, id, status, currency_id, search_folded);
CREATE INDEX payouts_status ON payouts (client_id, status, id, currency_id, search_folded);
CREATE INDEX payouts_currency ON payouts (client_id, currency_id, id, search_folded);
CREATE INDEX payouts_created ON payouts (created_at_ms, id);
CREATE INDEX payouts_due ON payouts (due_at_ms, id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX payouts_open ON payouts (id)
  WHERE ${isAmong('status', OPEN_PAYOUTS)};`,

  payout_events: `CREATE TABLE payout_events (
  id            INTEGER PRIMARY KEY,
  payout_id     TEXT NOT NULL REFERENCES payouts (id),
  event_type    TEXT NOT NULL,
  from_status   TEXT,
  to_status     TEXT NOT NULL,
  actor_type    TEXT NOT NULL CHECK ${isAmong('actor_type', ['system', 'client', 'operator'])},
  message       TEXT,
  created_at_ms INTEGER NOT NULL,
  -- The act of the audit that caused it.
  act           TEXT
) STRICT;
CREATE INDEX payout_events_payout ON payout_events (payout_id, id);
CREATE TRIGGER payout_events_fixed BEFORE UPDATE OF
  id, payout_id, event_type, from_status, to_status, actor_type, created_at_ms, act
ON payout_events BEGIN SELECT RAISE(ABORT, 'payout events are final'); END;
CREATE TRIGGER payout_events_kept BEFORE DELETE ON payout_events BEGIN SELECT RAISE(ABORT, 'payout events are kept'); END;
CREATE TRIGGER payout_events_messages_fixed BEFORE UPDATE OF message ON payout_events WHEN NEW.message IS NOT 'erased'
BEGIN SELECT RAISE(ABORT, 'payout events are final'); END;`,

  /** Orders and vouchers (contract C12). Amounts of the product are in its currency, those of the payment in the wallet's. */
  orders: `CREATE TABLE orders (
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
  -- In the wallet's currency, whatever the reason.
  refunded_minor     INTEGER NOT NULL DEFAULT 0 CHECK (refunded_minor BETWEEN 0 AND payable_minor),
  charges            TEXT NOT NULL CHECK (json_valid(charges)),
  status             TEXT NOT NULL CHECK ${isAmong('status', ORDER_STATUSES)},
  failure_reason     TEXT,
  due_at_ms          INTEGER,
  search_folded      TEXT NOT NULL,
  placed_at_ms       INTEGER NOT NULL,
  delivered_at_ms    INTEGER,
  failed_at_ms       INTEGER,
  cancelled_at_ms    INTEGER,
  UNIQUE (client_id, reference)
) STRICT;
CREATE INDEX orders_client ON orders (client_id, id, search_folded);
CREATE INDEX orders_placed ON orders (placed_at_ms);
CREATE INDEX orders_status ON orders (client_id, status, id);
CREATE INDEX orders_product ON orders (client_id, product_id, id);
CREATE INDEX orders_due ON orders (due_at_ms, id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX orders_open ON orders (id)
  WHERE ${isAmong('status', OPEN_ORDERS)} AND failed_at_ms IS NULL;`,

  /** Codes at rest are encrypted; the key is not in the database. */
  vouchers: `CREATE TABLE vouchers (
  id             INTEGER PRIMARY KEY,
  order_id       INTEGER NOT NULL REFERENCES orders (id),
  reference      TEXT NOT NULL UNIQUE,
  sealed         BLOB NOT NULL,
  expires_at_ms  INTEGER,
  -- What is encrypted for one row is decrypted in no other: a delivered voucher names the code of the stock that it is.
  stock_id       INTEGER REFERENCES voucher_stock (id),
  refunded_at_ms INTEGER
) STRICT;
CREATE INDEX vouchers_order ON vouchers (order_id, id);
CREATE UNIQUE INDEX vouchers_stock ON vouchers (stock_id) WHERE stock_id IS NOT NULL;`,

  /** Imported codes, each handed out once. */
  voucher_stock: `CREATE TABLE voucher_stock (
  id                 INTEGER PRIMARY KEY,
  product_id         INTEGER NOT NULL,
  denomination_minor INTEGER NOT NULL CHECK (denomination_minor > 0),
  fingerprint        TEXT NOT NULL UNIQUE,
  sealed             BLOB NOT NULL,
  expires_at_ms      INTEGER,
  order_id           INTEGER REFERENCES orders (id),
  -- A code that cannot be opened is not for sale.
  damaged_at_ms      INTEGER
) STRICT;
CREATE INDEX voucher_stock_free ON voucher_stock (product_id, denomination_minor, id, expires_at_ms)
  WHERE order_id IS NULL AND damaged_at_ms IS NULL;
CREATE INDEX voucher_stock_order ON voucher_stock (order_id, id) WHERE order_id IS NOT NULL;`,

  /** Codes are imported a few at a time, so that others can write in between. Those beyond this id are not for sale yet. */
  stock_published: `CREATE TABLE stock_published (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  up_to_id INTEGER NOT NULL
) STRICT;
INSERT INTO stock_published VALUES (1, 0);`,

  /** The part of a counted stock that the orders have taken. */
  stock_taken: `CREATE TABLE stock_taken (
  product_id INTEGER PRIMARY KEY,
  quantity   INTEGER NOT NULL CHECK (quantity >= 0)
) STRICT;`,

  /** A value that identifies the key that encrypts the codes, and reveals nothing more. */
  voucher_key: `CREATE TABLE voucher_key (
  id   INTEGER PRIMARY KEY CHECK (id = 1),
  mark TEXT NOT NULL
) STRICT;`,

  /**
   * Events (contract C16) of orders, payouts and wallets, in the order in which they were written. The data is the record at
   * that time. Events with the same record, such as 'order 1', stay in order.
   */
  events: `CREATE TABLE events (
  id            INTEGER PRIMARY KEY,
  event_id      TEXT NOT NULL UNIQUE,
  client_id     INTEGER NOT NULL REFERENCES clients (id),
  type          TEXT NOT NULL,
  record        TEXT NOT NULL,
  data          TEXT NOT NULL CHECK (json_valid(data)),
  created_at_ms INTEGER NOT NULL,
  -- Of the request or the act that caused it: its id, and its trace (W3C Trace Context), to which its deliveries belong, too.
  request_id    TEXT,
  traceparent   TEXT
) STRICT;
CREATE INDEX events_client ON events (client_id, id, type, created_at_ms);
CREATE INDEX events_created ON events (created_at_ms);
CREATE INDEX events_type ON events (client_id, type, id);
-- The kind of record: order, payout or wallet.
CREATE INDEX events_kind ON events (client_id, substr(type, 1, instr(type, '.') - 1), id);`,

  /** Webhooks (contract C16): the receivers of a client's events. Secrets are encrypted; the key is not in the database. */
  webhooks: `CREATE TABLE webhooks (
  id                TEXT PRIMARY KEY,
  client_id         INTEGER NOT NULL REFERENCES clients (id),
  name              TEXT NOT NULL,
  url               TEXT NOT NULL,
  events            TEXT NOT NULL CHECK (json_valid(events)),
  signing           TEXT NOT NULL CHECK ${isAmong('signing', ['standard', 'timestamped', 'body'])},
  active            INTEGER NOT NULL CHECK (active IN (0, 1)),
  disabled_reason   TEXT,
  secret            BLOB NOT NULL,
  -- The secret before the last rotation: both sign until then.
  previous_secret   BLOB,
  previous_until_ms INTEGER,
  -- When the first attempt failed since the last one that was delivered.
  failing_since_ms  INTEGER,
  -- What waits up to this row was dropped, and is deleted in steps.
  dropped_to        INTEGER NOT NULL DEFAULT 0,
  deleted           INTEGER NOT NULL DEFAULT 0 CHECK (deleted IN (0, 1)),
  created_at_ms     INTEGER NOT NULL,
  updated_at_ms     INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_client ON webhooks (client_id, created_at_ms, id);
CREATE INDEX webhooks_failing ON webhooks (failing_since_ms, id) WHERE failing_since_ms IS NOT NULL AND active = 1;`,

  /**
   * Waiting deliveries. Only the first of each record has a due time: the next one follows it. A test can hold an event back
   * until the next of its record is delivered.
   */
  webhook_queue: `CREATE TABLE webhook_queue (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id TEXT NOT NULL REFERENCES webhooks (id),
  event_id   INTEGER NOT NULL REFERENCES events (id),
  record     TEXT NOT NULL,
  failures   INTEGER NOT NULL,
  due_at_ms  INTEGER,
  held       INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
  UNIQUE (webhook_id, event_id)
) STRICT;
CREATE INDEX webhook_queue_due ON webhook_queue (webhook_id, due_at_ms, id) WHERE due_at_ms IS NOT NULL;
CREATE INDEX webhook_queue_event ON webhook_queue (event_id);
CREATE INDEX webhook_queue_record ON webhook_queue (webhook_id, record, id);`,

  /** One row for each attempt. */
  webhook_deliveries: `CREATE TABLE webhook_deliveries (
  id                 INTEGER PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  webhook_id         TEXT NOT NULL,
  event_id           TEXT NOT NULL,
  event_type         TEXT NOT NULL,
  attempt            INTEGER NOT NULL CHECK (attempt > 0),
  status             TEXT NOT NULL CHECK ${isAmong('status', ['delivered', 'retrying', 'failed'])},
  response_status    INTEGER,
  duration_ms        INTEGER NOT NULL,
  response_body      TEXT,
  next_attempt_at_ms INTEGER,
  created_at_ms      INTEGER NOT NULL,
  -- Why an attempt got no response, in words for people.
  error              TEXT
) STRICT;
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id, id);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, id, client_id);`,

  /** The acts of operators, refused ones too, and failed logins (contract C17). Each row holds the hash of the previous one. */
  audit: `CREATE TABLE audit (
  id            INTEGER PRIMARY KEY,
  at_ms         INTEGER NOT NULL,
  user          TEXT NOT NULL,
  command       TEXT NOT NULL,
  subject       TEXT NOT NULL,
  before        TEXT CHECK (before IS NULL OR json_valid(before)),
  after         TEXT CHECK (after IS NULL OR json_valid(after)),
  outcome       TEXT NOT NULL CHECK (outcome IN ('done', 'refused')),
  address       TEXT,
  -- The id under which a command has asked for it.
  act           TEXT UNIQUE,
  -- A hash of the content of that request: an id belongs to one.
  request_sha256 TEXT,
  previous_hash TEXT NOT NULL CHECK (length(previous_hash) = 64),
  hash          TEXT NOT NULL CHECK (length(hash) = 64),
  -- The name of the key of the hash, which the voucher key gives; null where there was none yet.
  key_mark      TEXT
) STRICT;
CREATE INDEX audit_command ON audit (command, outcome, id);
CREATE INDEX audit_outcome ON audit (outcome, id);
CREATE INDEX audit_time ON audit (at_ms);
CREATE INDEX audit_user ON audit (user, id);
CREATE TRIGGER audit_fixed BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is final'); END;
CREATE TRIGGER audit_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is kept'); END;`,

  /** The end of the audit in one row, sealed with the key of the rows: a missing tail is detected. */
  audit_head: `CREATE TABLE audit_head (
  id    INTEGER PRIMARY KEY CHECK (id = 1),
  count INTEGER NOT NULL,
  hash  TEXT NOT NULL,
  seal  TEXT
) STRICT;
INSERT INTO audit_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000', NULL);`,

  /** The keys of rows that are older than a rekeying, sealed with the voucher key. */
  audit_keys: `CREATE TABLE audit_keys (
  mark   TEXT PRIMARY KEY,
  sealed BLOB NOT NULL
) STRICT;`,

  /** The clock of a sandbox in a folder, once it was moved (contract C15): one row. */
  moved_clock: `CREATE TABLE moved_clock (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  offset_ms    INTEGER NOT NULL CHECK (abs(offset_ms) <= 95617583999999),
  frozen_at_ms INTEGER CHECK (frozen_at_ms BETWEEN 0 AND 95617583999999)
) STRICT;`,

  /** The pace of payouts and orders: either the clock moves them, or only a request does (contract C15). */
  kept_pace: `CREATE TABLE kept_pace (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  payouts TEXT NOT NULL CHECK (payouts IN ('auto', 'manual')),
  orders  TEXT NOT NULL CHECK (orders IN ('auto', 'manual'))
) STRICT;`,

  /** The positions of the random stream and the ids of a named world, as of the last commit that used them (contract C15). */
  kept_randomness: `CREATE TABLE kept_randomness (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  seed     TEXT NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 0),
  last_ms  INTEGER NOT NULL CHECK (last_ms >= -1),
  sequence INTEGER NOT NULL CHECK (sequence >= 0)
) STRICT;`,

  /** The changes of a sandbox world to its products (contract C15): the members that differ from the catalog. */
  product_changes: `CREATE TABLE product_changes (
  product_id INTEGER PRIMARY KEY,
  change     TEXT NOT NULL CHECK (json_valid(change))
) STRICT;`,

  /**
   * The position of this database as a copy of a record in PostgreSQL (contract C18): one row, or none if it is not a copy. It is
   * not a part of the data, and no backup has it.
   */
  record_copy: `CREATE TABLE record_copy (
  id           INTEGER PRIMARY KEY CHECK (id = 1),
  installation TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  -- Under which epoch, and when by the clock of PostgreSQL, in microseconds, that commit was made.
  epoch        INTEGER NOT NULL,
  at_us        INTEGER NOT NULL,
  -- The epoch under which this folder writes.
  lease_epoch  INTEGER NOT NULL DEFAULT 0
) STRICT;`,
} as const
