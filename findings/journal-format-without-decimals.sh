#!/usr/bin/env bash
# hledger reads "commodity JPY / format 1000. JPY" and refuses "format 1000 JPY": the format of a currency without decimals needs a point.
# ledger refuses exactly that point, in words about symbols that differ. No format for JPY is right in both; no format at all is.
# Seen with hledger 1.25-2+b5 and ledger 3.3.0-3 (Debian 12).
#   hledger, "1000 JPY":  Please include a decimal point or decimal comma in commodity directives
#   ledger, "1000. JPY":  Error: commodity directive symbol JPY and format directive symbol  should be the same
# A good guess is that the two read the same commodity directives: hledger documents this form as ledger's.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download hledger=1.25-2+b5 ledger=3.3.0-3 libpython3.11 libmpfr6 libboost-filesystem1.74.0 libboost-iostreams1.74.0 \
  libboost-regex1.74.0 libboost-python1.74.0 libicu72 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu:$folder/root/usr/lib/ledger LC_ALL=C.UTF-8
hledger=root/usr/bin/hledger
ledger=root/usr/bin/ledger
"$hledger" --version
"$ledger" --version | head -n 1

journal() { # the format line of JPY, or nothing
  printf 'commodity JPY\n%s\naccount Assets:Wallet\naccount Equity:Funding\n\n2026-11-01 funding\n    Assets:Wallet   500 JPY\n    Equity:Funding  -500 JPY\n' "$1"
}
journal '    format 1000 JPY' >without-point.journal
journal '    format 1000. JPY' >with-point.journal
journal '' >without-format.journal

says() { # program, its arguments: "reads" or "refuses"
  if "$@" >out 2>&1; then echo reads; else echo refuses; fi
}
seen=$(for file in without-point with-point without-format; do
  echo "$file: hledger $(says "$hledger" -f $file.journal check --strict), ledger $(says "$ledger" -f $file.journal balance)"
done)
echo "$seen"
[ "$seen" = 'without-point: hledger refuses, ledger reads
with-point: hledger reads, ledger refuses
without-format: hledger reads, ledger reads' ]
