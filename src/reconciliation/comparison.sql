-- Statements of a comparison, by name. OURS stands for the records of one type that a client has made in a period, THEIRS for
-- the table of what the list has of this type.

-- orders
SELECT
  id,
  reference,
  payable_minor AS amount_minor,
  (SELECT currency_id FROM wallets WHERE id = wallet_id) AS currency_id,
  status,
  FALSE AS is_returned,
  placed_at_ms AS at_ms,
  status IN ('CANCELLED', 'FAILED') AS has_ended
FROM main.orders
WHERE client_id = $client AND placed_at_ms >= $since AND placed_at_ms < $until

-- payouts
SELECT
  id,
  reference_id AS reference,
  amount_minor,
  currency_id,
  status,
  returned AS is_returned,
  created_at_ms AS at_ms,
  returned OR status IN ('cancelled', 'failed', 'expired') AS has_ended
FROM main.payouts
WHERE client_id = $client AND created_at_ms >= $since AND created_at_ms < $until

-- theirs
CREATE TABLE THEIRS (
  line INTEGER PRIMARY KEY,
  reference TEXT,
  amount_minor INTEGER,
  currency_id INTEGER,
  status TEXT,
  at_ms INTEGER
)

-- add
INSERT INTO THEIRS VALUES (?, ?, ?, ?, ?, ?)

-- index, with all that pairs compare
CREATE INDEX THEIRS_by_reference ON NAME (reference, line, amount_minor, currency_id, status)

-- findings
CREATE TEMP TABLE findings (
  kind TEXT,
  type TEXT,
  reference TEXT,
  our_amount INTEGER,
  our_currency INTEGER,
  our_status TEXT,
  our_at INTEGER,
  their_amount INTEGER,
  their_currency INTEGER,
  their_status TEXT,
  their_at INTEGER,
  times INTEGER,
  status_differs INTEGER,
  -- What moved in the end.
  our_counted INTEGER,
  their_counted INTEGER
)

-- status_differs
(lower(theirs.status) <> lower(ours.status) AND NOT (ours.is_returned AND lower(theirs.status) = 'returned'))

-- counted
iif(lower(theirs.status) IN ('cancelled', 'canceled', 'failed', 'expired', 'returned'), 0, theirs.amount_minor)

-- pairs, each of our records with each line that names it, in the order in which they were made; with a finding where they differ
SELECT
  theirs.line AS line,
  ours.id AS id,
  iif(
    theirs.line IS NULL
      OR ours.amount_minor <> theirs.amount_minor
      OR ours.currency_id <> theirs.currency_id
      OR STATUS_DIFFERS,
    json_array(
      iif(theirs.line IS NULL, 'only_ours', 'differs'), TYPE, ours.reference,
      ours.amount_minor, ours.currency_id, ours.status, ours.at_ms,
      theirs.amount_minor, theirs.currency_id, theirs.status, theirs.at_ms, theirs.line IS NOT NULL,
      STATUS_DIFFERS,
      iif(ours.has_ended, 0, ours.amount_minor), ifnull(COUNTED, 0)
    ),
    NULL
  ) AS finding
FROM OURS AS ours
LEFT JOIN THEIRS AS theirs
  ON theirs.reference = ours.reference AND (theirs.status IS NOT NULL OR NOT ours.has_ended)
WHERE NOT (ours.has_ended AND theirs.line IS NULL)
ORDER BY ORDERED

-- differing
INSERT INTO temp.findings
SELECT
  ?1 ->> 0, ?1 ->> 1, ?1 ->> 2, ?1 ->> 3, ?1 ->> 4, ?1 ->> 5, ?1 ->> 6, ?1 ->> 7,
  ?1 ->> 8, ?1 ->> 9, ?1 ->> 10, ?1 ->> 11, ?1 ->> 12, ?1 ->> 13, ?1 ->> 14

-- lines
SELECT line FROM THEIRS ORDER BY line

-- foreign, unless an earlier line names it too
INSERT INTO temp.findings
SELECT
  'only_theirs', TYPE, reference,
  NULL, NULL, NULL, NULL,
  amount_minor, currency_id, status, at_ms, 1, FALSE,
  NULL, COUNTED
FROM THEIRS AS theirs
WHERE line = $line
  AND NOT EXISTS (SELECT 1 FROM THEIRS AS earlier WHERE earlier.reference = theirs.reference AND earlier.line < theirs.line)

-- twice
INSERT INTO temp.findings
SELECT
  'counted_twice', TYPE, theirs.reference,
  ours.amount_minor, ours.currency_id, ours.status, ours.at_ms,
  theirs.amount_minor, theirs.currency_id, theirs.status, theirs.at_ms, several.times, FALSE,
  iif(ours.has_ended, 0, ours.amount_minor), several.counted
FROM (
  SELECT reference, min(line) AS line, count(*) AS times, sum(COUNTED) AS counted
  FROM THEIRS AS theirs
  GROUP BY reference
  HAVING count(*) > 1
) AS several
JOIN THEIRS AS theirs ON theirs.line = several.line
LEFT JOIN OURS AS ours ON ours.reference = theirs.reference
ORDER BY theirs.line

-- kind
SELECT * FROM temp.findings WHERE kind = $kind ORDER BY rowid

-- parting
SELECT
  type, reference,
  coalesce(our_at, their_at) AS at_ms,
  coalesce(our_currency, their_currency) AS currency_id,
  coalesce(our_counted, 0) AS our_counted,
  iif(our_currency <> their_currency, 0, their_counted) AS their_counted
FROM temp.findings
WHERE coalesce(our_counted, 0) <> their_counted OR our_currency <> their_currency
ORDER BY at_ms IS NULL, at_ms, currency_id, kind = 'counted_twice' DESC, reference
LIMIT 1

-- sum
SELECT coalesce(sum(ours.amount_minor), 0) AS minor
FROM OURS AS ours
WHERE NOT ours.has_ended AND ours.currency_id = $currency AND ours.at_ms <= $at
