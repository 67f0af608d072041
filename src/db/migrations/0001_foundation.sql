-- Which seeds of the program have been written, by their digest.
CREATE TABLE seeds (
  name   TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Reference data (spec 2.3 to 2.5). Ids are published and never change.
CREATE TABLE countries (
  id             INTEGER PRIMARY KEY,
  name           TEXT NOT NULL,
  official_name  TEXT NOT NULL,
  alpha_2        TEXT NOT NULL UNIQUE CHECK (length(alpha_2) = 2),
  alpha_3        TEXT NOT NULL UNIQUE CHECK (length(alpha_3) = 3),
  numeric_code   TEXT NOT NULL UNIQUE CHECK (length(numeric_code) = 3),
  dialing_prefix TEXT NOT NULL CHECK (dialing_prefix LIKE '+%')
) STRICT;

CREATE TABLE currencies (
  id        INTEGER PRIMARY KEY,
  name      TEXT NOT NULL,
  currency  TEXT NOT NULL UNIQUE CHECK (length(currency) = 3),
  precision INTEGER NOT NULL CHECK (precision BETWEEN 0 AND 4)
) STRICT;

CREATE TABLE categories (
  id     INTEGER PRIMARY KEY,
  name   TEXT NOT NULL UNIQUE,
  active INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;

CREATE TABLE subcategories (
  id          INTEGER PRIMARY KEY,
  category_id INTEGER NOT NULL REFERENCES categories (id),
  name        TEXT NOT NULL UNIQUE,
  active      INTEGER NOT NULL CHECK (active IN (0, 1))
) STRICT;

-- The catalog (spec 2.2, contract C8). Amounts are in minor units of the product's currency.
CREATE TABLE products (
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
) STRICT;

CREATE TABLE product_bands (
  product_id            INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
  position              INTEGER NOT NULL,
  min_minor             INTEGER NOT NULL CHECK (min_minor > 0),
  max_minor             INTEGER NOT NULL CHECK (max_minor >= min_minor),
  discount_basis_points INTEGER NOT NULL CHECK (discount_basis_points BETWEEN 0 AND 10000),
  PRIMARY KEY (product_id, position)
) STRICT, WITHOUT ROWID;

-- Clients and what they hold (contract C2, C3, C11).
CREATE TABLE clients (
  id              INTEGER PRIMARY KEY,
  username        TEXT NOT NULL UNIQUE,
  password_sha256 TEXT NOT NULL,
  vouchers        INTEGER NOT NULL CHECK (vouchers IN (0, 1)),
  quantity_max    INTEGER CHECK (quantity_max >= 1),
  disabled        INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  created_at_ms   INTEGER NOT NULL
) STRICT;

CREATE TABLE client_discounts (
  client_id             INTEGER NOT NULL REFERENCES clients (id),
  product_id            INTEGER NOT NULL,
  discount_basis_points INTEGER NOT NULL CHECK (discount_basis_points BETWEEN 0 AND 10000),
  PRIMARY KEY (client_id, product_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE wallets (
  id                 INTEGER PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  currency_id        INTEGER NOT NULL REFERENCES currencies (id),
  type               TEXT NOT NULL CHECK (type IN ('PREPAID', 'POSTPAID')),
  amount_minor       INTEGER NOT NULL,
  credit_limit_minor INTEGER NOT NULL DEFAULT 0 CHECK (credit_limit_minor >= 0),
  is_default         INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  created_at_ms      INTEGER NOT NULL,
  updated_at_ms      INTEGER NOT NULL,
  CHECK (amount_minor >= -credit_limit_minor)
) STRICT;
CREATE UNIQUE INDEX wallets_default ON wallets (client_id) WHERE is_default = 1;
CREATE INDEX wallets_client ON wallets (client_id, currency_id);

-- One row a login: the family of tokens that descends from it (contract C3).
CREATE TABLE logins (
  id                 TEXT PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  refresh_generation INTEGER NOT NULL,
  expires_at_ms      INTEGER NOT NULL,
  revoked            INTEGER NOT NULL DEFAULT 0 CHECK (revoked IN (0, 1))
) STRICT, WITHOUT ROWID;
CREATE INDEX logins_client ON logins (client_id, expires_at_ms);
CREATE INDEX logins_expiry ON logins (expires_at_ms);

-- Saved beneficiaries (spec 2.1, contract C10). The folded columns are what search and order compare.
CREATE TABLE beneficiaries (
  id                 TEXT PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  email              TEXT NOT NULL,
  first_name         TEXT NOT NULL,
  last_name          TEXT NOT NULL,
  email_folded       TEXT NOT NULL,
  first_name_folded  TEXT NOT NULL,
  last_name_folded   TEXT NOT NULL,
  country            TEXT REFERENCES countries (alpha_2),
  phone              TEXT,
  metadata           TEXT NOT NULL CHECK (json_valid(metadata)),
  total_payouts      INTEGER NOT NULL DEFAULT 0,
  total_amount_minor INTEGER NOT NULL DEFAULT 0,
  last_payout_at_ms  INTEGER,
  created_at_ms      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX beneficiaries_created ON beneficiaries (client_id, created_at_ms, id);

-- Answers kept to be given again (contract C14).
CREATE TABLE idempotency_keys (
  client_id      INTEGER NOT NULL REFERENCES clients (id),
  key            TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  status         INTEGER NOT NULL,
  body           TEXT NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  PRIMARY KEY (client_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at_ms);
