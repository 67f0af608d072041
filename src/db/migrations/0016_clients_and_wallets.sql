-- The password before the last rotation, while it is still good (contract C17).
ALTER TABLE clients ADD COLUMN old_password_sha256 TEXT;
ALTER TABLE clients ADD COLUMN old_password_until_ms INTEGER;

-- A closed wallet pays nothing.
ALTER TABLE wallets ADD COLUMN closed_at_ms INTEGER;
