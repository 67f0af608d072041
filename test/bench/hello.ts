/** The least that a compiled server can be: what its start, its memory and its size are is the runtime's own. */
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('{"status":"ok"}') })
process.stdout.write(`ready url=http://127.0.0.1:${server.port}\n`)

export {}
