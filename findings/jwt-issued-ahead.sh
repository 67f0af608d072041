#!/usr/bin/env bash
# A token that was issued a minute ahead of the reader's clock is refused by golang-jwt and PyJWT, and accepted by jose, jsonwebtoken (with
# maxAge too) and fast-jwt. RFC 7519 has no rule for iat: only nbf is a "not before". Between machines whose clocks are a few seconds apart, the
# same token works with one library and fails with another.
# Seen with jwt 4.4.3-1+b4 (golang-jwt) and python3-jwt 2.6.0-1+deb12u1 (Debian 12), jose 6.2.18, jsonwebtoken 9.0.3 and fast-jwt 6.3.6.
# A good guess is that all ignore iat, or that all refuse it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

chmod 755 .
apt-get -qq download jwt=4.4.3-1+b4 python3-jwt=2.6.0-1+deb12u1 2>/dev/null
for package in *.deb; do dpkg -x "$package" root; done
npm install --silent --no-audit --no-fund jose@6.2.18 jsonwebtoken@9.0.3 fast-jwt@6.3.6
printf 'k%.0s' $(seq 32) >key
cat >tokens.mjs <<'JS'
import { createVerifier } from 'fast-jwt'
import { jwtVerify, SignJWT } from 'jose'
import jwt from 'jsonwebtoken'
import { writeFileSync } from 'node:fs'
const key = 'k'.repeat(32)
const bytes = new TextEncoder().encode(key)
const now = Math.floor(Date.now() / 1000)
const token = await new SignJWT({ iat: now + 60, exp: now + 120 }).setProtectedHeader({ alg: 'HS256' }).sign(bytes)
writeFileSync('token', token)
const says = async (name, read) => console.log(name, await Promise.resolve().then(read).then(() => 'accepts', (error) => error.message))
await says('jose', () => jwtVerify(token, bytes))
await says('jsonwebtoken', () => jwt.verify(token, key, { maxAge: 60 }))
await says('fast-jwt', () => createVerifier({ key })(token))
JS
cat >read.py <<'PY'
import jwt
try:
    jwt.decode(open("token").read(), "k" * 32, algorithms=["HS256"])
    print("PyJWT accepts")
except jwt.ImmatureSignatureError as error:
    print("PyJWT", error)
PY
seen=$(
  node tokens.mjs
  PYTHONPATH=root/usr/lib/python3/dist-packages /usr/bin/python3 read.py
  if root/usr/bin/jwt -key key -alg HS256 -verify - <token >out 2>&1; then echo 'golang-jwt accepts'; else sed 's/^.*: /golang-jwt /' out; fi
)
echo "$seen"
[ "$seen" = 'jose accepts
jsonwebtoken accepts
fast-jwt accepts
PyJWT The token is not yet valid (iat)
golang-jwt Token used before issued' ]
