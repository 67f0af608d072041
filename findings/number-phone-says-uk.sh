#!/usr/bin/env bash
# Number::Phone says that +44 20 7946 0000 is in "UK". Every other country has the code of ISO 3166, in which that one is GB. A mobile number of
# Guernsey with the same prefix is GG, so a table from its answers to countries misses the largest one alone.
# Seen with libnumber-phone-perl 3.9001-1 (Debian 12). libphonenumber-js 1.13.16 says GB. A good guess is one set of codes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download libnumber-phone-perl=3.9001-1 libdbm-deep-perl libfile-sharedir-perl libscalar-list-utils-perl libclass-inspector-perl 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
npm install --silent --no-audit --no-fund libphonenumber-js@1.13.16
export PERL5LIB=$folder/root/usr/share/perl5
numbers='+442079460000 +447911123456 +33123456789'
one=$(perl -MNumber::Phone -e 'print join(" ", map { Number::Phone->new($_)->country } @ARGV), "\n"' $numbers)
other=$(node -p 'const { parsePhoneNumber } = require("libphonenumber-js"); process.argv.slice(1).map((text) => parsePhoneNumber(text).country).join(" ")' $numbers)
printf '%s\n%s\n' "$one" "$other"
[ "$one" = 'UK GG FR' ]
[ "$other" = 'GB GG FR' ]
