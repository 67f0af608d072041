#!/usr/bin/env bash
# `promtool check metrics` says nothing and exits with 0 for a page with the same series twice, a counter below zero, and a histogram whose +Inf
# bucket holds less than a smaller bucket and whose count is another number. It lints names and help texts. A page needs a test of its own.
# Seen with prometheus 2.42.0+ds-5+deb12u1 (Debian 12). A good guess is that a checker of a format refuses two values of one series.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download prometheus=2.42.0+ds-5+deb12u1 2>/dev/null
dpkg -x prometheus_*.deb root
root/usr/bin/promtool --version 2>&1 | head -n 1

cat >page <<'PAGE'
# HELP orders_total Orders.
# TYPE orders_total counter
orders_total{client="00123"} 1
orders_total{client="00123"} 2
# HELP refunds_total Refunds.
# TYPE refunds_total counter
refunds_total -5
# HELP wait_seconds Time.
# TYPE wait_seconds histogram
wait_seconds_bucket{le="1"} 5
wait_seconds_bucket{le="+Inf"} 3
wait_seconds_sum 1
wait_seconds_count 9
PAGE
said=$(root/usr/bin/promtool check metrics <page 2>&1) || exit 1
[ -z "$said" ]
# It does read the page: a name without _total is a finding.
if printf '# HELP orders Orders.\n# TYPE orders counter\norders 1\n' | root/usr/bin/promtool check metrics >lint 2>&1; then exit 1; fi
cat lint
