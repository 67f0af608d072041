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
CREATE INDEX transactions_client ON transactions (client_id, id);
CREATE INDEX transactions_created ON transactions (client_id, created_at_ms, id);

-- How many records each client's lists hold, by status, so that a page can tell the total without counting. Of
-- transactions the wallet stands in the place of the status.
CREATE TABLE list_counts (
  list      TEXT NOT NULL,
  client_id INTEGER NOT NULL,
  part      TEXT NOT NULL,
  count     INTEGER NOT NULL CHECK (count >= 0),
  PRIMARY KEY (list, client_id, part)
) STRICT, WITHOUT ROWID;
INSERT INTO list_counts SELECT 'beneficiaries', client_id, '', count(*) FROM beneficiaries GROUP BY client_id;
INSERT INTO list_counts SELECT 'payouts', client_id, status, count(*) FROM payouts GROUP BY client_id, status;
INSERT INTO list_counts SELECT 'orders', client_id, status, count(*) FROM orders GROUP BY client_id, status;
INSERT INTO list_counts SELECT 'transactions', client_id, wallet_id, count(*) FROM transactions GROUP BY client_id, wallet_id;

CREATE TRIGGER beneficiaries_counted AFTER INSERT ON beneficiaries BEGIN
  INSERT INTO list_counts VALUES ('beneficiaries', NEW.client_id, '', 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER beneficiaries_discounted AFTER DELETE ON beneficiaries BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'beneficiaries' AND client_id = OLD.client_id AND part = '';
END;
CREATE TRIGGER payouts_counted AFTER INSERT ON payouts BEGIN
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER payouts_recounted AFTER UPDATE OF status ON payouts WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'payouts' AND client_id = OLD.client_id AND part = OLD.status;
  INSERT INTO list_counts VALUES ('payouts', NEW.client_id, NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER orders_counted AFTER INSERT ON orders BEGIN
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER orders_recounted AFTER UPDATE OF status ON orders WHEN NEW.status <> OLD.status BEGIN
  UPDATE list_counts SET count = count - 1 WHERE list = 'orders' AND client_id = OLD.client_id AND part = OLD.status;
  INSERT INTO list_counts VALUES ('orders', NEW.client_id, NEW.status, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER transactions_counted AFTER INSERT ON transactions BEGIN
  INSERT INTO list_counts VALUES ('transactions', NEW.client_id, NEW.wallet_id, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END;
