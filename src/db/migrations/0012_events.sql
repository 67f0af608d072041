-- Events (contract C16): what happened to orders, payouts and wallets, in the order in which it was written. The data is
-- the record as it was then, as JSON: to check it again would cost a quarter of the insertion. The record names what must stay in order: 'order 1'.
CREATE TABLE events (
  id            INTEGER PRIMARY KEY,
  event_id      TEXT NOT NULL UNIQUE,
  client_id     INTEGER NOT NULL REFERENCES clients (id),
  type          TEXT NOT NULL,
  record        TEXT NOT NULL,
  data          TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX events_client ON events (client_id, id, type, created_at_ms);
CREATE TRIGGER events_counted AFTER INSERT ON events BEGIN
  INSERT INTO list_counts VALUES ('events', NEW.client_id, '', 0, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER events_discounted AFTER DELETE ON events BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'events' AND client_id = OLD.client_id AND part = '' AND currency_id = 0;
END;

-- A wallet is low once its amount is below its threshold, until it is not any more.
ALTER TABLE wallets ADD COLUMN threshold_minor INTEGER;
ALTER TABLE wallets ADD COLUMN is_low INTEGER NOT NULL DEFAULT 0 CHECK (is_low IN (0, 1));
