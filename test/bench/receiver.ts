/**
 * A receiver of webhooks that does as little as one can. It prints its port. `/status/503` sets what it responds with,
 * `/count` how many deliveries have come since then.
 */

let status = 200
let count = 0

const respond = (path: string): string => {
  const wanted = /^\/status\/(\d+)$/.exec(path)?.[1]
  if (wanted !== undefined) {
    status = Number(wanted)
    count = 0
  } else if (path !== '/count') count += 1
  const body = path === '/count' ? String(count) : 'ok'
  const code = path.startsWith('/hooks') ? status : 200
  return `HTTP/1.1 ${code} -\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
}

const server = Bun.listen<{ text: string }>({
  hostname: '127.0.0.1',
  port: 0,
  socket: {
    open: (socket) => {
      socket.data = { text: '' }
    },
    data: (socket, bytes) => {
      socket.data.text += bytes.toString('latin1')
      const headEnd = socket.data.text.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(socket.data.text)?.[1] ?? 0)
      if (socket.data.text.length < headEnd + 4 + length) return
      socket.end(respond(socket.data.text.split(' ', 2)[1] ?? ''))
    },
  },
})
console.log(server.port)
