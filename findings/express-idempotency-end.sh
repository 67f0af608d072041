#!/usr/bin/env bash
# express-idempotency keeps an answer only if the handler used res.send or res.json. After res.end the work is done, and each repeat with the
# same key is refused with "A previous request is still in progress for this key.", for ever. A replay of res.json has the body and the status,
# and no Location header. A failure of 500 is not kept: the repeat does the work again.
# Seen with express-idempotency 1.0.6 on express 4.21.2. A good guess is that any finished response is replayed, with its headers.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund express-idempotency@1.0.6 express@4.21.2
cat >server.cjs <<'JS'
const express = require('express')
const { idempotency, getSharedIdempotencyService } = require('express-idempotency')
const app = express()
app.use(express.json())
app.use(idempotency())
let orders = 0
app.post('/:how', (request, response) => {
  if (getSharedIdempotencyService().isHit(request)) return
  const body = { order: ++orders }
  if (request.params.how === 'fail') return void response.status(500).json(body)
  response.status(201).set('Location', `/orders/${orders}`)
  if (request.params.how === 'end') response.type('json').end(JSON.stringify(body))
  else response.json(body)
})
app.use((error, _request, response, _next) => response.status(409).json({ error: error.message }))
const server = app.listen(0, '127.0.0.1', async () => {
  const url = `http://127.0.0.1:${server.address().port}`
  for (const how of ['json', 'end', 'fail']) {
    for (const time of ['first', 'again']) {
      const headers = { 'content-type': 'application/json', 'idempotency-key': how }
      const response = await fetch(`${url}/${how}`, { method: 'POST', headers, body: '{"a":1}' })
      console.log(how, time, response.status, response.headers.get('location'), await response.text())
    }
  }
  process.exit()
})
JS
seen=$(node server.cjs)
echo "$seen"
[ "$seen" = 'json first 201 /orders/1 {"order":1}
json again 201 null {"order":1}
end first 201 /orders/2 {"order":2}
end again 409 null {"error":"A previous request is still in progress for this key."}
fail first 500 null {"order":3}
fail again 500 null {"order":4}' ]
