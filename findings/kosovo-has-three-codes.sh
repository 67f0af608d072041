#!/usr/bin/env bash
# Kosovo has the code XK in three country tables, which its users need because ISO 3166 has none. In three letters it is XKK in one, XKX in
# another and UNK in the third: a code of one is no country of the others. i18n-iso-countries alone also has a number for it, 983.
# Seen with i18n-iso-countries 7.14.0, countries-list 3.4.1 and world-countries 5.1.0. A good guess is XKX, as the World Bank and the EU write.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund i18n-iso-countries@7.14.0 countries-list@3.4.1 world-countries@5.1.0
cat >codes.cjs <<'JS'
const iso = require('i18n-iso-countries')
const { getCountryData } = require('countries-list')
const kosovo = require('world-countries').find(({ cca2 }) => cca2 === 'XK')
console.log(iso.alpha2ToAlpha3('XK'), getCountryData('XK').iso3, kosovo.cca3)
console.log(iso.alpha3ToAlpha2('XKX'), iso.alpha2ToNumeric('XK'), JSON.stringify(kosovo.ccn3))
JS
seen=$(node codes.cjs)
echo "$seen"
[ "$seen" = 'XKK XKX UNK
undefined 983 ""' ]
