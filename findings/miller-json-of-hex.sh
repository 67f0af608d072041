#!/usr/bin/env bash
# Miller writes a cell that looks like a number into JSON as it is. A card number 0x4471, an amount .5 and an amount 5. become bare words that
# no JSON parser reads, and a reference 1E5 becomes the number 100000. A cell 00123 is a text, though, and a sum with it is "(error)".
# Seen with miller 6.6.0-2+b3 (Debian 12). A good guess is that a program that writes JSON writes JSON, and that 00123 is 123 or stays alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download miller=6.6.0-2+b3 2>/dev/null
dpkg -x miller_*.deb root
mlr() { root/usr/bin/mlr "$@"; }
mlr --version

printf 'reference,amount\n0x4471,10.50\np-1,.5\np-2,5.\n1E5,1\n00123,1\n' >list.csv
mlr --icsv --ojsonl cat list.csv | tee list.jsonl
readable=$(while read -r line; do
  if /usr/bin/python3 -c 'import json, sys; json.loads(sys.argv[1])' "$line" 2>/dev/null; then echo reads; else echo fails; fi
done <list.jsonl | paste -sd ' ')
echo "$readable"
[ "$readable" = 'fails fails fails reads reads' ]
grep -qF '"reference": 1E5,' list.jsonl
# shellcheck disable=SC1010
sum=$(mlr --icsv --onidx filter '$reference == "00123"' then put -q 'emit {"sum": $reference + 1}' list.csv)
echo "00123 + 1 = $sum"
[ "$sum" = '(error)' ]
