#!/usr/bin/env bash
# bean-query shows sum(number) with the decimals of most numbers in the column, and cuts the others: 98.027 KWD beside dollars is "98.02".
# sum(position) of the same rows shows 98.027 KWD. bean-check holds balances to the last digit in both cases: only the report is wrong.
# Seen with beancount 2.3.5-2 (Debian 12): "Assets:Wallet-2,KWD,98.02". A good guess is that a sum is exact, or at least rounded (98.03).
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download beancount=2.3.5-2 python3-beancount=2.3.5-2+b1 python3-ply python3-dateutil python3-six 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export PYTHONPATH=$folder/root/usr/lib/python3/dist-packages LC_ALL=C.UTF-8
query() { /usr/bin/python3 root/usr/bin/bean-query "$@"; }
/usr/bin/python3 root/usr/bin/bean-check --version

cat >books.beancount <<'BOOKS'
2026-10-31 open Assets:Wallet-1 USD
2026-10-31 open Assets:Wallet-2 KWD
2026-10-31 open Assets:Wallet-3 EUR
2026-10-31 open Equity:Funding USD,KWD,EUR

2026-11-01 * "funding"
  Assets:Wallet-1  979.58 USD
  Equity:Funding  -979.58 USD

2026-11-02 * "funding"
  Assets:Wallet-3  12.25 EUR
  Equity:Funding  -12.25 EUR

2026-11-03 * "funding"
  Assets:Wallet-2  98.027 KWD
  Equity:Funding  -98.027 KWD

2026-11-04 balance Assets:Wallet-2  98.027 ~ 0 KWD
BOOKS
/usr/bin/python3 root/usr/bin/bean-check books.beancount

numbers=$(query -f csv books.beancount "SELECT account, currency, sum(number) WHERE account ~ 'Wallet' GROUP BY account, currency ORDER BY account" | tr -d ' \r')
positions=$(query -f csv books.beancount "SELECT account, sum(position) WHERE account ~ 'Wallet' GROUP BY account ORDER BY account" | tr -s ' ' | tr -d '\r')
printf '%s\n\n%s\n' "$numbers" "$positions"
grep -qx 'Assets:Wallet-2,KWD,98.02' <<<"$numbers"
grep -q '98.027 KWD' <<<"$positions"
