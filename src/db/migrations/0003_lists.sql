-- Every order and filter that the lists offer has an index, the last column telling apart what is left equal.
CREATE INDEX beneficiaries_email ON beneficiaries (client_id, email_folded, email, id);
CREATE INDEX beneficiaries_first_name ON beneficiaries (client_id, first_name_folded, first_name, id);
CREATE INDEX beneficiaries_last_name ON beneficiaries (client_id, last_name_folded, last_name, id);
CREATE INDEX beneficiaries_country ON beneficiaries (client_id, country, id);
CREATE INDEX beneficiaries_payouts ON beneficiaries (client_id, total_payouts, id);
CREATE INDEX beneficiaries_amount ON beneficiaries (client_id, total_amount_minor, id);
CREATE INDEX beneficiaries_last_payout ON beneficiaries (client_id, last_payout_at_ms, id);
CREATE INDEX payouts_amount ON payouts (client_id, amount_rank, id);
CREATE INDEX payouts_by_status ON payouts (client_id, status, id);
CREATE INDEX payouts_status_created ON payouts (client_id, status, created_at_ms, id);
CREATE INDEX payouts_currency_created ON payouts (client_id, currency_id, created_at_ms, id);
CREATE INDEX orders_status ON orders (client_id, status, id);
CREATE INDEX orders_product ON orders (client_id, product_id, id);
CREATE INDEX transactions_amount ON transactions (client_id, amount_rank, id);
-- With what filters read: types, statuses and sources are too few for an index of each.
CREATE INDEX transactions_client ON transactions (client_id, id, transaction_type, status, source_type, wallet_id, created_at_ms);
CREATE INDEX transactions_created ON transactions (client_id, created_at_ms, id);

-- What a search reads stands beside the key in the index of the usual order, so that it reads no rows.
DROP INDEX beneficiaries_created;
CREATE INDEX beneficiaries_created
  ON beneficiaries (client_id, created_at_ms, id, email_folded, first_name_folded, last_name_folded);
DROP INDEX payouts_created;
CREATE INDEX payouts_created ON payouts (client_id, created_at_ms, id, search_folded);

-- How many records each client's lists hold, by status and currency, so that a page can tell the total without counting. Of
-- transactions the wallet stands in the place of the status; currencies are those of payouts, elsewhere 0. What else is
-- counted tells whether a place that was known is still the same: in any order, while there are no more changes; in the order
-- of creation, while nothing more has come or gone but at its end.
CREATE TABLE list_counts (
  list        TEXT NOT NULL,
  client_id   INTEGER NOT NULL,
  part        TEXT NOT NULL,
  currency_id INTEGER NOT NULL,
  count       INTEGER NOT NULL CHECK (count >= 0),
  changes     INTEGER NOT NULL,
  intrusions  INTEGER NOT NULL,
  PRIMARY KEY (list, client_id, part, currency_id)
) STRICT, WITHOUT ROWID;
INSERT INTO list_counts SELECT 'beneficiaries', client_id, '', 0, count(*), 0, 0 FROM beneficiaries GROUP BY client_id;
INSERT INTO list_counts SELECT 'payouts', client_id, status, currency_id, count(*), 0, 0 FROM payouts GROUP BY 2, 3, 4;
INSERT INTO list_counts SELECT 'orders', client_id, status, 0, count(*), 0, 0 FROM orders GROUP BY 2, 3;
INSERT INTO list_counts SELECT 'transactions', client_id, wallet_id, 0, count(*), 0, 0 FROM transactions GROUP BY 2, 3;

CREATE TRIGGER beneficiaries_counted AFTER INSERT ON beneficiaries BEGIN
  INSERT INTO list_counts VALUES ('beneficiaries', NEW.client_id, '', 0, 1, 1, EXISTS (
    SELECT 1 FROM beneficiaries WHERE client_id = NEW.client_id AND (created_at_ms, id) > (NEW.created_at_ms, NEW.id)
  )) ON CONFLICT DO UPDATE SET
    count = count + 1, changes = changes + 1, intrusions = intrusions + excluded.intrusions;
END;
CREATE TRIGGER beneficiaries_recounted AFTER UPDATE ON beneficiaries BEGIN
  UPDATE list_counts SET changes = changes + 1
    WHERE list = 'beneficiaries' AND client_id = NEW.client_id AND part = '' AND currency_id = 0;
END;
CREATE TRIGGER beneficiaries_discounted AFTER DELETE ON beneficiaries BEGIN
  UPDATE list_counts SET count = count - 1, changes = changes + 1, intrusions = intrusions + 1
    WHERE list = 'beneficiaries' AND client_id = OLD.client_id AND part = '' AND currency_id = 0;
END;
CREATE TRIGGER payouts_counted AFTER INSERT ON payouts BEGIN
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, NEW.currency_id, 1, 1, EXISTS (
    SELECT 1 FROM payouts WHERE client_id = NEW.client_id AND (created_at_ms, id) > (NEW.created_at_ms, NEW.id)
  )) ON CONFLICT DO UPDATE SET
    count = count + 1, changes = changes + 1, intrusions = intrusions + excluded.intrusions;
END;
CREATE TRIGGER payouts_recounted AFTER UPDATE OF status ON payouts WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'payouts' AND client_id = OLD.client_id AND part = OLD.status AND currency_id = OLD.currency_id;
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, NEW.currency_id, 1, 1, 0)
    ON CONFLICT DO UPDATE SET count = count + 1, changes = changes + 1;
END;
CREATE TRIGGER orders_counted AFTER INSERT ON orders BEGIN
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 0, 1, 1, 0)
    ON CONFLICT DO UPDATE SET count = count + 1, changes = changes + 1;
END;
CREATE TRIGGER orders_recounted AFTER UPDATE OF status ON orders WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1
    WHERE list = 'orders' AND client_id = OLD.client_id AND part = OLD.status AND currency_id = 0;
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 0, 1, 1, 0)
    ON CONFLICT DO UPDATE SET count = count + 1, changes = changes + 1;
END;
CREATE TRIGGER transactions_counted AFTER INSERT ON transactions BEGIN
  INSERT INTO list_counts VALUES ('transactions', NEW.client_id, NEW.wallet_id, 0, 1, 1, 0)
    ON CONFLICT DO UPDATE SET count = count + 1, changes = changes + 1;
END;
