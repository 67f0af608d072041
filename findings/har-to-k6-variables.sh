#!/usr/bin/env bash
# har-to-k6 takes ${...} in a recorded body for a variable of its own. A HAR whose POST said {"remarks":"Price ${x}"} is refused with "Post text
# referenced undefined variable: x": nothing is written, and the exit code is 0. HAR 1.2 has no variables: the text of postData is the body.
# Seen with har-to-k6 0.14.16. A good guess is that a recording is replayed as it was.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

npm install --silent --no-audit --no-fund har-to-k6@0.14.16
har() { # the text of the body
  cat <<HAR
{"log":{"version":"1.2","creator":{"name":"recorder","version":"1"},"entries":[{"startedDateTime":"2026-11-28T16:06:52.123Z","time":5,"cache":{},
"request":{"method":"POST","url":"http://127.0.0.1/orders","httpVersion":"HTTP/1.1","cookies":[],"headers":[{"name":"content-type","value":"application/json"}],
"queryString":[],"postData":{"mimeType":"application/json","text":"{\"remarks\":\"$1\"}"},"headersSize":-1,"bodySize":-1},
"response":{"status":201,"statusText":"Created","httpVersion":"HTTP/1.1","cookies":[],"headers":[],"redirectURL":"","headersSize":-1,"bodySize":-1,
"content":{"size":2,"mimeType":"application/json","text":"{}"}},"timings":{"send":0,"wait":5,"receive":0}}]}}
HAR
}
har 'Price 5' >plain.har
har 'Price ${x}' >signs.har
convert=node_modules/.bin/har-to-k6
"$convert" plain.har -o plain.js >/dev/null 2>&1
[ -s plain.js ]
"$convert" signs.har -o signs.js >out 2>&1
[ ! -e signs.js ]
cat out
grep -qF 'Post text referenced undefined variable: x' out
