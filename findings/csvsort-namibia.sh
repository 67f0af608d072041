#!/usr/bin/env bash
# csvsort changes cells that it does not sort by: the country NA (Namibia) becomes empty, a column of 0 and 1 becomes False and True, and 00123 in
# a column of numbers becomes 123. csvjoin joins 00123 with 123, and writes True for "yes". --no-inference keeps 00123 and 0, and NA is
# still lost; --blanks keeps NA, and 00123 is still 123. Only both together leave a file as it is.
# Seen with csvkit 1.0.7-1 and agate 1.6.3-2 (Debian 12). A good guess is that a sort moves rows and changes none, or that one switch ends it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download csvkit=1.0.7-1 python3-csvkit=1.0.7-1 python3-agate=1.6.3-2 python3-babel python-babel-localedata python3-isodate python3-leather \
  python3-parsedatetime python3-slugify python3-text-unidecode python3-tz python3-six python3-future python3-agatedbf python3-agateexcel \
  python3-agatesql python3-sqlalchemy python3-dbfread python3-openpyxl python3-xlrd python3-et-xmlfile python3-pytimeparse python3-icu 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONWARNINGS=ignore LC_ALL=C.UTF-8
tool() { /usr/bin/python3 "root/usr/bin/$1" "${@:2}"; }

printf 'reference,country,low,at\n00123,NA,0,2026-11-28T16:06:52.123Z\n2,US,1,2026-11-28T16:06:53.000Z\n' >list.csv
printf 'reference,theirs\n123,yes\n' >other.csv
cells() { tr -d '\r' | sed -n '2p' | cut -d , -f 1-3,5; }
seen=$(
  tool csvsort -c at list.csv | cells
  tool csvjoin -c reference list.csv other.csv | cells
  tool csvsort --no-inference -c at list.csv | cells
  tool csvsort --blanks -c at list.csv | cells
  tool csvsort --no-inference --blanks -c at list.csv | cells
)
echo "$seen"
[ "$seen" = '123,,False
123,,False,True
00123,,0
123,NA,False
00123,NA,0' ]
