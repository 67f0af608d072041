import { createServer, type Socket } from 'node:net'

/** A receiver of webhooks on a raw socket, which can do what no framework lets it do. */

/** A delivery as it came. */
export interface Received {
  path: string
  body: string
}

/** Its reaction to a delivery that it has read. Returns nothing: it may end the connection, or not. */
export type Behaviour = (socket: Socket, received: Received) => void

export const respondWith =
  (status: number, body = ''): Behaviour =>
  (socket) =>
    socket.end(`HTTP/1.1 ${status} -\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)

export const breakOff: Behaviour = (socket) => void socket.destroy()

export class Receiver {
  readonly received: Received[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((socket) => this.#take(socket))

  private constructor(private readonly behave: Behaviour) {}

  static async open(behave: Behaviour): Promise<Receiver> {
    const receiver = new Receiver(behave)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' ? (address?.port ?? 0) : 0
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #take(socket: Socket): void {
    this.#sockets.add(socket)
    let text = ''
    let isWhole = false
    socket.on('error', () => undefined)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
      const headEnd = text.indexOf('\r\n\r\n')
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN)
      if (isWhole || headEnd === -1 || text.length < headEnd + 4 + length) return
      isWhole = true
      const body = Buffer.from(text.slice(headEnd + 4), 'latin1').toString()
      const received = { path: text.split(' ', 2)[1] ?? '', body }
      this.received.push(received)
      this.behave(socket, received)
    })
  }
}
