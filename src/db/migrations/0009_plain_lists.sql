-- A page is reached by OFFSET along an index, so that only the number of records is kept.
DROP TRIGGER beneficiaries_counted;
DROP TRIGGER beneficiaries_recounted;
DROP TRIGGER beneficiaries_discounted;
DROP TRIGGER payouts_counted;
DROP TRIGGER payouts_recounted;
DROP TRIGGER orders_counted;
DROP TRIGGER orders_recounted;
DROP TRIGGER transactions_counted;
ALTER TABLE list_counts DROP COLUMN changes;
ALTER TABLE list_counts DROP COLUMN intrusions;

CREATE TRIGGER beneficiaries_counted AFTER INSERT ON beneficiaries BEGIN
  INSERT INTO list_counts VALUES ('beneficiaries', NEW.client_id, '', 0, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER beneficiaries_discounted AFTER DELETE ON beneficiaries BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'beneficiaries' AND client_id = OLD.client_id AND part = '' AND currency_id = 0;
END;
CREATE TRIGGER payouts_counted AFTER INSERT ON payouts BEGIN
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, NEW.currency_id, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER payouts_recounted AFTER UPDATE OF status ON payouts WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'payouts' AND client_id = OLD.client_id AND part = OLD.status AND currency_id = OLD.currency_id;
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, NEW.currency_id, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER orders_counted AFTER INSERT ON orders BEGIN
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 0, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER orders_recounted AFTER UPDATE OF status ON orders WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'orders' AND client_id = OLD.client_id AND part = OLD.status AND currency_id = 0;
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 0, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER transactions_counted AFTER INSERT ON transactions BEGIN
  INSERT INTO list_counts VALUES ('transactions', NEW.client_id, NEW.wallet_id, 0, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;

-- One text for each searched record, in lower case and with one small sigma. It stands in the index of the order of
-- creation, so that a search reads no rows.
ALTER TABLE beneficiaries ADD COLUMN search_folded TEXT NOT NULL DEFAULT '';
UPDATE beneficiaries SET search_folded =
  replace(email_folded || char(0) || first_name_folded || ' ' || last_name_folded, 'ς', 'σ');
UPDATE payouts SET search_folded = replace(search_folded, 'ς', 'σ') WHERE instr(search_folded, 'ς');
UPDATE transactions SET search_folded = replace(search_folded, 'ς', 'σ') WHERE instr(search_folded, 'ς');
DROP INDEX beneficiaries_created;
CREATE INDEX beneficiaries_created ON beneficiaries (client_id, created_at_ms, id, search_folded);

-- Currencies and wallets never change: in every order they are read from the index.
DROP INDEX payouts_amount;
CREATE INDEX payouts_amount ON payouts (client_id, amount_rank, id, currency_id);
DROP INDEX payouts_by_status;
CREATE INDEX payouts_by_status ON payouts (client_id, status, id, currency_id);
DROP INDEX payouts_status_created;
CREATE INDEX payouts_status_created ON payouts (client_id, status, created_at_ms, id, currency_id);
DROP INDEX transactions_amount;
CREATE INDEX transactions_amount ON transactions (client_id, amount_rank, id, wallet_id);
DROP INDEX transactions_created;
CREATE INDEX transactions_created ON transactions (client_id, created_at_ms, id, wallet_id);
