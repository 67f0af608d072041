/** What `scrip help TOPIC` prints. */
export const TOPICS: Readonly<Record<string, string>> = {
  worlds: `Worlds

A world is everything that can change: data, clock, randomness, rate limits,
caches, faults, request log. Logging in as sbx_NAME with any password creates
the world NAME, a fresh copy of the seeded state. Worlds share nothing, so each
test can have its own.

  sbx_NAME          every feature; wallets 1 USD, 2 EUR, 3 INR, 4 JPY
  sbx_NAME.limited  no vouchers feature; wallet 5 with USD 5.00

To control a world, call /_sandbox with ?world=NAME:

  GET  /_sandbox           overview
  POST /_sandbox/clock     {"advance":"PT5M"}, {"now":"...","frozen":true}
  POST /_sandbox/reset     back to the seeded state
  POST /_sandbox/faults    {"error":"charges.rate_failed","times":1}
  PUT  /_sandbox/snapshots/NAME, and POST .../restore
  GET  /_sandbox/requests  the request log

  scrip run -- npm test    a sandbox while the tests run

More: docs/testing-with-scrip.md
`,
  money: `Money

Amounts are JSON numbers in major units, with the decimals of their currency.
Internally they are whole minor units. Each published amount is rounded once,
half away from zero.

  1 non_discounted_total  denomination x quantity
  2 discount_amount       1 x discount %
  3 total_amount          1 - 2
  4 net_amount            3, converted when the wallet has another currency
  5 gst_amount            4 x GST % of the product
  6 handling_fee_amount   fixed fee + 4 x fee %
  7 conversion_fee        4 x 0.5 % if currencies differ, else null
  8 total_payable         4 + 5 + 6 + 7: what an order takes from the wallet

100 x 2 at 2.5 % with 18 % GST: 200, 5, 195, 195, 35.10, 0, null, 230.10.

A payout debits its amount and 1.5 % fees at once. If it fails, is cancelled or
expires, both are refunded. Every movement is a transaction of the wallet.

More: docs/money.md
`,
  live: `Live mode

Live mode keeps real records in one folder. These commands work on the folder,
also while a server runs on it:

  scrip client add acme --data-dir DIR      prints the password once
  scrip wallet add acme USD --data-dir DIR
  scrip wallet fund 1 25000 --data-dir DIR
  scrip catalog import FILE --data-dir DIR
  scrip vouchers import FILE --data-dir DIR
  scrip rates set USD/EUR=0.92 --data-dir DIR
  scrip serve --mode live --data-dir DIR

Payouts wait for an operator: scrip payouts list, advance, fail, return.
So do orders that are not delivered at once: scrip orders list, deliver, fail.
Before and after anything risky: scrip backup FILE, scrip verify.
Set SCRIP_DATA_DIR to leave out --data-dir.

More: docs/running-live.md
`,
  errors: `Errors

Errors have one of three shapes, depending on the endpoint:

  {"error":{"name":...,"code":...,"message":...,"messages":...}}   most
  {"error":"ValidationException","message":...}  beneficiaries and payouts
  {"error":"Product not found"}                  charges and discount

400 invalid request          401 no valid access token   403 not enabled
404 unknown or another's     429 wait Retry-After s      500 try again
503 wait Retry-After s

GET /_sandbox/errors lists each error with its name. X-Sandbox-Fault: NAME
provokes it in one request, POST /_sandbox/faults in many.

Exit codes: 0 done, 1 failed or refused, 2 usage error, 3 address not
available, 4 data error, 5 timeout.

More: docs/errors.md
`,
}
