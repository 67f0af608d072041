/** The smallest compiled server. Its start time, memory and size are those of the runtime. */
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('{"status":"ok"}') })
process.stdout.write(`ready url=http://127.0.0.1:${server.port}\n`)

export {}
