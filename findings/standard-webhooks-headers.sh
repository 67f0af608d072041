#!/usr/bin/env bash
# The Standard Webhooks libraries refuse the headers of a fetch Request: verify(body, request.headers) says "Missing required headers" though
# all three are there. They read own properties, which a Headers object has none of. Bytes, as request.bytes() gives them, are refused with a
# plain Error, which a receiver that catches WebhookVerificationError does not catch. Object.fromEntries(request.headers) is read.
# Seen with standardwebhooks 1.1.1 and svix 2.5.0, on Node 20. A good guess is that a library for receivers reads what receivers have.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund standardwebhooks@1.1.1 svix@2.5.0
cat >receive.mjs <<'JS'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { Webhook as Svix, WebhookVerificationError as SvixError } from 'svix'
const secret = `whsec_${Buffer.from('x'.repeat(32)).toString('base64')}`
const body = '{"id":"evt_1"}'
const at = new Date()
const headers = {
  'webhook-id': 'evt_1',
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
}
const request = () => new Request('http://127.0.0.1/', { method: 'POST', body, headers })
const bytes = new Uint8Array(await request().arrayBuffer())
for (const [name, library, own] of [
  ['standardwebhooks', new Webhook(secret), WebhookVerificationError],
  ['svix', new Svix(secret), SvixError],
]) {
  for (const [what, sent, head] of [
    ['Headers', body, request().headers],
    ['bytes', bytes, headers],
    ['entries', body, Object.fromEntries(request().headers)],
  ]) {
    try {
      library.verify(sent, head)
      console.log(name, what, 'accepts')
    } catch (error) {
      console.log(name, what, error instanceof own ? 'own error:' : 'other error:', error.message)
    }
  }
}
JS
seen=$(node receive.mjs)
echo "$seen"
[ "$seen" = 'standardwebhooks Headers own error: Missing required headers
standardwebhooks bytes other error: Expected payload to be of type string or Buffer.
standardwebhooks entries accepts
svix Headers own error: Missing required headers
svix bytes other error: Expected payload to be of type string or Buffer.
svix entries accepts' ]
