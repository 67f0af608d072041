#!/usr/bin/env bash
# In currency.js, the sum of two amounts depends on which comes first: 98.027 (precision 3) + 1.25 is 99.277, and 1.25 + 98.027 is 99.28. The
# left side's precision rounds the result. A text 1e5 is 15, and "12-34" is NaN without an error. Half of a cent goes up for 1.005 and for
# -1.005, so a refund is a cent less than its payment: 1.01 and -1.
# Seen with currency.js 2.0.4. A good guess is that a sum is commutative, and that a library for money mirrors its rounding or refuses.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund currency.js@2.0.4
cat >sums.cjs <<'JS'
const currency = require('currency.js')
const dinars = currency('98.027', { precision: 3 })
console.log(dinars.add(currency('1.25')).value, currency('1.25').add(dinars).value)
console.log(currency('1e5').value, currency('12-34').value)
console.log(currency(1.005).value, currency(-1.005).value)
JS
seen=$(node sums.cjs)
echo "$seen"
[ "$seen" = '99.277 99.28
15 NaN
1.01 -1' ]
