-- Whether the clock moves payouts and orders on, or nobody but who asks for it (contract C15).
CREATE TABLE kept_pace (
  id      INTEGER PRIMARY KEY CHECK (id = 1),
  payouts TEXT NOT NULL CHECK (payouts IN ('auto', 'manual')),
  orders  TEXT NOT NULL CHECK (orders IN ('auto', 'manual'))
) STRICT;
