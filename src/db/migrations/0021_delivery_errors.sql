-- Why an attempt got no response, in words for people: a refused connection, a name that is unknown, an expired certificate.
ALTER TABLE webhook_deliveries ADD COLUMN error TEXT;
