#!/usr/bin/env bash
# libofx reads <NAME>O&apos;Neill &amp; Sons</NAME> of an OFX 2 file, which is XML, as "ONeill & Sons": the apostrophe is gone. ofxdump prints
# an amount of 12.345 KWD as 12.35, and puts a transaction that has only a date at 10:59 UTC of that day.
# Seen with libofx7 and ofx 1:0.10.9-1 (Debian 12). A good guess is that the five entities of XML are read, and amounts are shown as they are.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download ofx=1:0.10.9-1 libofx7=1:0.10.9-1 libosp5 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
export LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu OFX_DTD_PATH=$folder/root/usr/share/libofx7/libofx/dtd LC_ALL=C.UTF-8 TZ=UTC

cat >statement.ofx <<'OFX'
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>
<OFX>
<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS><DTSERVER>20261128160652</DTSERVER><LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>
<BANKMSGSRSV1><STMTTRNRS><TRNUID>1</TRNUID><STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>
<STMTRS><CURDEF>KWD</CURDEF><BANKACCTFROM><BANKID>1</BANKID><ACCTID>7</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>
<BANKTRANLIST><DTSTART>20261101</DTSTART><DTEND>20261130</DTEND>
<STMTTRN><TRNTYPE>CREDIT</TRNTYPE><DTPOSTED>20261128</DTPOSTED><TRNAMT>12.345</TRNAMT><FITID>a-1</FITID><NAME>O&apos;Neill &amp; Sons</NAME></STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>98.027</BALAMT><DTASOF>20261128</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1>
</OFX>
OFX
root/usr/bin/ofxdump statement.ofx >read.txt 2>errors.txt || echo "exit code $?"
grep -E 'Name of payee|Total money amount|Date posted' read.txt
grep -q 'Name of payee .*: ONeill & Sons' read.txt
grep -q 'Total money amount: 12\.35$' read.txt
grep -q 'Date posted: Sat Nov 28 10:59:00 2026 UTC' read.txt
