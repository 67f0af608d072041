#!/usr/bin/env bash
# undici's RetryAgent does not repeat a POST, and yet it changes its response: a 503 that `request` returns with its body becomes an
# exception, RequestRetryError, without the body. A 400 is returned by both. The option throwOnError is documented as one "on last retry
# attempt"; it also acts where no attempt is made, because the method is not one to repeat.
# Seen with undici 7.30.2 on Node 20:
#   request: 503 {"reason":"out of stock"} after 1
#   RetryAgent: RequestRetryError 503, body undefined, after 1
#   RetryAgent, 400: 400 {"reason":"out of stock"} after 1
#   RetryAgent, throwOnError false: 503 {"reason":"out of stock"} after 1
# A good guess is that a request that is not repeated passes an agent for retries unchanged.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

node --version
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --save-exact undici@7.30.2

cat >run.mjs <<'MODULE'
import { createServer } from 'node:http'
import { Agent, RetryAgent, request } from 'undici'

let count = 0
const server = createServer((incoming, response) => {
  count++
  incoming.resume()
  response.writeHead(Number(incoming.url.slice(1)), { 'Content-Type': 'application/json' })
  response.end('{"reason":"out of stock"}')
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${server.address().port}`

const show = async (name, dispatcher, status = 503) => {
  count = 0
  try {
    const { statusCode, body } = await request(`${url}/${status}`, { method: 'POST', body: '{}', dispatcher })
    console.log(`${name}: ${statusCode} ${await body.text()} after ${count}`)
  } catch (error) {
    console.log(`${name}: ${error.name} ${error.statusCode}, body ${error.body}, after ${count}`)
  }
}
await show('request', new Agent())
await show('RetryAgent', new RetryAgent(new Agent()))
await show('RetryAgent, 400', new RetryAgent(new Agent()), 400)
await show('RetryAgent, throwOnError false', new RetryAgent(new Agent(), { throwOnError: false }))
process.exit()
MODULE
node run.mjs | tee seen

diff seen - <<'SEEN'
request: 503 {"reason":"out of stock"} after 1
RetryAgent: RequestRetryError 503, body undefined, after 1
RetryAgent, 400: 400 {"reason":"out of stock"} after 1
RetryAgent, throwOnError false: 503 {"reason":"out of stock"} after 1
SEEN
