#!/usr/bin/env bash
# ky's option `throwHttpErrors: false` also ends its retries of a 503 with Retry-After: one request, and the 503. Retries of a connection
# that breaks stay. got has both options under the same names, and its `throwHttpErrors: false` leaves all retries as they are.
# Seen with ky 1.14.3 and got 14.6.6 on Node 20:
#   ky: 503 after 1, throwHttpErrors true: 200 after 2, broken: 200 after 2
#   got: 200 after 2, throwHttpErrors true: 200 after 2, broken: 200 after 2
# A good guess is that the option says only how the last response is handed to the caller.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

node --version
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --save-exact ky@1.14.3 got@14.6.6

cat >run.mjs <<'MODULE'
import { createServer } from 'node:http'
import got from 'got'
import ky from 'ky'

/** The first request of each path gets a 503, or no response at all. */
const seen = new Map()
const server = createServer((request, response) => {
  const count = (seen.get(request.url) ?? 0) + 1
  seen.set(request.url, count)
  if (count > 1) return response.end('done')
  if (request.url.includes('broken')) return request.socket.destroy()
  response.writeHead(503, { 'Retry-After': '1' }).end('later')
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${server.address().port}`
const after = async (path, request) => `${await request(url + path)} after ${seen.get(path)}`

const statusOfKy = (options) => async (each) => (await ky(each, options)).status
const statusOfGot = (options) => async (each) => (await got(each, options)).statusCode
for (const [name, statusOf] of Object.entries({ ky: statusOfKy, got: statusOfGot })) {
  const off = await after(`/${name}/off`, statusOf({ throwHttpErrors: false }))
  const on = await after(`/${name}/on`, statusOf({ throwHttpErrors: true }))
  const broken = await after(`/${name}/broken`, statusOf({ throwHttpErrors: false }))
  console.log(`${name}: ${off}, throwHttpErrors true: ${on}, broken: ${broken}`)
}
process.exit()
MODULE
node run.mjs | tee seen

diff seen - <<'SEEN'
ky: 503 after 1, throwHttpErrors true: 200 after 2, broken: 200 after 2
got: 200 after 2, throwHttpErrors true: 200 after 2, broken: 200 after 2
SEEN
