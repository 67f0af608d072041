-- The fees of one client, in basis points; without them those of the server hold (contract C9).
ALTER TABLE clients ADD COLUMN conversion_fee_basis_points INTEGER CHECK (conversion_fee_basis_points BETWEEN 0 AND 10000);
ALTER TABLE clients ADD COLUMN payout_fee_basis_points INTEGER CHECK (payout_fee_basis_points BETWEEN 0 AND 10000);
