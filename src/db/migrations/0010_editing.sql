-- What a world of the sandbox has changed of its products (contract C15): the members that differ from the catalog, as JSON.
CREATE TABLE product_changes (
  product_id INTEGER PRIMARY KEY,
  change     TEXT NOT NULL CHECK (json_valid(change))
) STRICT;

-- The rate limits of one client, as in --rate-limit; without them those of the server hold.
ALTER TABLE clients ADD COLUMN rate_limit TEXT;
