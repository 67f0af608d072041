-- The request log of the sandbox shows the attempts to deliver the events of a request.
CREATE INDEX webhook_deliveries_event ON webhook_deliveries (event_id, id);
