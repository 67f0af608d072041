PRAGMA journal_mode = WAL;
CREATE TABLE countries (id INTEGER PRIMARY KEY, name TEXT NOT NULL, official_name TEXT NOT NULL, alpha_2 TEXT NOT NULL,
  alpha_3 TEXT NOT NULL UNIQUE, numeric_code TEXT NOT NULL, dialing_prefix TEXT NOT NULL) STRICT;
CREATE TABLE currencies (code TEXT PRIMARY KEY, id INTEGER NOT NULL, precision INTEGER NOT NULL, per_usd REAL) STRICT;
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category TEXT NOT NULL, sub_category TEXT NOT NULL,
  country_code TEXT NOT NULL, currency_code TEXT NOT NULL, image_url TEXT NOT NULL, delivery_mode TEXT NOT NULL,
  delivery_time TEXT NOT NULL, validity TEXT NOT NULL, terms TEXT NOT NULL, details TEXT NOT NULL, how_to_use TEXT NOT NULL,
  available_denominations TEXT NOT NULL, gst_percent REAL NOT NULL, fee_fixed REAL NOT NULL, fee_percent REAL NOT NULL,
  max_quantity INTEGER NOT NULL, country_id INTEGER NOT NULL, currency_id INTEGER NOT NULL) STRICT;
CREATE INDEX products_by_category ON products (category);
CREATE INDEX products_by_country ON products (country_id);
CREATE INDEX products_by_currency ON products (currency_id);
CREATE TABLE clients (id INTEGER PRIMARY KEY, username TEXT NOT NULL UNIQUE, password_digest TEXT NOT NULL) STRICT;
CREATE TABLE wallets (id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients (id),
  currency_code TEXT NOT NULL, balance_minor INTEGER NOT NULL CHECK (balance_minor >= 0),
  UNIQUE (client_id, currency_code)) STRICT;
CREATE TABLE entries (id INTEGER PRIMARY KEY, wallet_id INTEGER NOT NULL REFERENCES wallets (id), source TEXT NOT NULL,
  amount_minor INTEGER NOT NULL, balance_minor INTEGER NOT NULL, created_at TEXT NOT NULL) STRICT;
CREATE INDEX entries_by_wallet ON entries (wallet_id, id);
CREATE TABLE beneficiaries (id TEXT PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients (id),
  email TEXT NOT NULL, first_name TEXT NOT NULL, last_name TEXT NOT NULL, country TEXT, phone TEXT, metadata TEXT NOT NULL,
  total_payouts INTEGER NOT NULL DEFAULT 0, total_amount_minor INTEGER NOT NULL DEFAULT 0, last_payout_at TEXT,
  created_at TEXT NOT NULL) STRICT;
CREATE INDEX beneficiaries_by_client ON beneficiaries (client_id, created_at DESC);
CREATE TABLE orders (id INTEGER PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients (id),
  product_id INTEGER NOT NULL REFERENCES products (id), wallet_id INTEGER NOT NULL REFERENCES wallets (id),
  entry_id INTEGER NOT NULL REFERENCES entries (id), client_reference TEXT, denomination REAL NOT NULL,
  quantity INTEGER NOT NULL, charges TEXT NOT NULL, status TEXT NOT NULL, placed_at TEXT NOT NULL) STRICT;
CREATE INDEX orders_by_client ON orders (client_id, id DESC);
CREATE TABLE vouchers (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES products (id),
  denomination REAL NOT NULL, card_number TEXT NOT NULL, pin_code TEXT NOT NULL, order_id INTEGER REFERENCES orders (id)) STRICT;
CREATE INDEX vouchers_in_stock ON vouchers (product_id, denomination, id) WHERE order_id IS NULL;
CREATE INDEX vouchers_by_order ON vouchers (order_id) WHERE order_id IS NOT NULL;
CREATE TABLE payouts (id TEXT PRIMARY KEY, client_id INTEGER NOT NULL REFERENCES clients (id),
  reference_id TEXT NOT NULL, wallet_id INTEGER NOT NULL REFERENCES wallets (id),
  entry_id INTEGER NOT NULL REFERENCES entries (id), status TEXT NOT NULL, amount_minor INTEGER NOT NULL,
  fees_minor INTEGER NOT NULL, currency TEXT NOT NULL, email TEXT NOT NULL, first_name TEXT NOT NULL,
  last_name TEXT NOT NULL, created_at TEXT NOT NULL, UNIQUE (client_id, reference_id)) STRICT;
CREATE INDEX payouts_by_client ON payouts (client_id, created_at DESC, id DESC);
CREATE TABLE idempotency_keys (client_id INTEGER NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, body TEXT NOT NULL,
  created_at TEXT NOT NULL, PRIMARY KEY (client_id, key)) STRICT, WITHOUT ROWID;
