-- Webhooks (contract C16): where a client wants its events sent. Secrets are sealed; the key is not in the database.
CREATE TABLE webhooks (
  id                TEXT PRIMARY KEY,
  client_id         INTEGER NOT NULL REFERENCES clients (id),
  name              TEXT NOT NULL,
  url               TEXT NOT NULL,
  events            TEXT NOT NULL CHECK (json_valid(events)),
  signing           TEXT NOT NULL CHECK (signing IN ('standard', 'timestamped', 'body')),
  active            INTEGER NOT NULL CHECK (active IN (0, 1)),
  disabled_reason   TEXT,
  secret            BLOB NOT NULL,
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

-- What waits to be delivered. Of each record only the first has a due time: the next one follows it. A test can hold an
-- event until the next of its record is delivered.
CREATE TABLE webhook_queue (
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
CREATE INDEX webhook_queue_record ON webhook_queue (webhook_id, record, id);
CREATE INDEX webhook_queue_event ON webhook_queue (event_id);

-- One row for each attempt.
CREATE TABLE webhook_deliveries (
  id                 INTEGER PRIMARY KEY,
  client_id          INTEGER NOT NULL REFERENCES clients (id),
  webhook_id         TEXT NOT NULL,
  event_id           TEXT NOT NULL,
  event_type         TEXT NOT NULL,
  attempt            INTEGER NOT NULL CHECK (attempt > 0),
  status             TEXT NOT NULL CHECK (status IN ('delivered', 'retrying', 'failed')),
  response_status    INTEGER,
  duration_ms        INTEGER NOT NULL,
  response_body      TEXT,
  next_attempt_at_ms INTEGER,
  created_at_ms      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (client_id, webhook_id, id);
CREATE TRIGGER webhook_deliveries_counted AFTER INSERT ON webhook_deliveries BEGIN
  INSERT INTO list_counts VALUES ('webhook_deliveries', NEW.client_id, NEW.webhook_id, 0, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER webhook_deliveries_discounted AFTER DELETE ON webhook_deliveries BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'webhook_deliveries' AND client_id = OLD.client_id AND part = OLD.webhook_id AND currency_id = 0;
END;
