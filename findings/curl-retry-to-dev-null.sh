#!/usr/bin/env bash
# `curl --retry 2 -o /dev/null` does not repeat a request that got a 503: it ends with exit code 23, "Failed to truncate file", after one
# request. Before it tries again, curl truncates its output, and /dev/null cannot be truncated. With a regular file, or with the shell's
# `>/dev/null`, it sends two requests and ends with 0.
# Seen with curl 7.88.1 (Debian 12): "exit 23 after 1 requests", "exit 0 after 2 requests" twice.
# A good guess is that `-o /dev/null`, in every command line that only looks at the status, changes nothing about retries.
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder"

curl --version | head -1
curl --version | grep -q '^curl 7\.88\.1 ' || { echo 'needs curl 7.88.1' >&2; exit 1; }

# Answers the first request for each path with a 503, and all others with a 200.
cat >server.py <<'PYTHON'
from collections import Counter
from http.server import BaseHTTPRequestHandler, HTTPServer

seen = Counter()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.startswith("/count"):
            status, body = 200, str(seen[self.path[len("/count"):]])
        else:
            seen[self.path] += 1
            status, body = (503, "later") if seen[self.path] == 1 else (200, "done")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 503:
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *arguments):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
PYTHON
/usr/bin/python3 server.py >port &
server=$!
until [ -s port ]; do sleep 0.1; done
url=http://127.0.0.1:$(cat port)

shown() {
  local name=$1 exit=0
  shift
  "$@" || exit=$?
  echo "$name: exit $exit after $(curl -sS "$url/count/$name") requests" | tee -a seen
}
to_stdout() { curl -sS --retry 2 "$url/stdout" >/dev/null; }
shown null curl -sS --retry 2 -o /dev/null "$url/null"
shown file curl -sS --retry 2 -o body "$url/file"
shown stdout to_stdout

diff seen - <<'SEEN'
null: exit 23 after 1 requests
file: exit 0 after 2 requests
stdout: exit 0 after 2 requests
SEEN
