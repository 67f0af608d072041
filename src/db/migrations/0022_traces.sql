-- The trace that the request belonged to which caused an event (W3C Trace Context): its deliveries belong to it, too.
ALTER TABLE events ADD COLUMN traceparent TEXT;
