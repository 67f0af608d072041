import { connect, type Socket } from 'node:net'
import { startServer as startListening } from '../src/commands/serve/server.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { createLog } from '../src/observability/log.ts'
import { againstBinary, configOfFlags, startServer } from './harness.ts'

/** Scrip behind a socket in both targets, for tests of bytes on the wire. */

export interface Listening extends AsyncDisposable {
  url: string
  /** Its log, if it runs in this process. */
  log: string[]
  stop: () => Promise<void>
}

/** Starts a server on a free port with flags of `scrip serve`. */
export const listening = async (...flags: string[]): Promise<Listening> => {
  if (againstBinary) return { ...(await startServer(...flags)), log: [] }
  const log: string[] = []
  const write = (line: string) => log.push(line)
  const options = { level: 'info', format: 'json', color: false, clock: systemClock, write } as const
  const server = await startListening(configOfFlags('--port', '0', ...flags), createLog(options))
  const stop = () => server.stop(1_000)
  return { url: server.url, log, stop, [Symbol.asyncDispose]: stop }
}

/** A response as it came over the wire. */
export interface RawResponse {
  status: number
  /** Names in the spelling in which they were sent. */
  headers: Record<string, string>
  body: string
}

/** A connection that keeps all received bytes. */
export class Connection {
  #heard = ''
  #stir = Promise.withResolvers<void>()
  #isClosed = false

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.#heard += chunk.toString('latin1')
      this.#wake()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#isClosed = true
      this.#wake()
    })
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    const connection = new Connection(socket)
    await new Promise((resolve) => socket.once('connect', resolve))
    return connection
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text)
  }

  /** Closes the connection without a message. */
  destroy(): void {
    this.socket.destroy()
  }

  /** All received bytes, once the other side has closed. */
  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#stir.promise
    return this.#heard
  }

  /** The next response with a body of a known length. */
  async response(): Promise<RawResponse> {
    for (;;) {
      const parsed = parse(this.#heard)
      if (parsed) {
        this.#heard = this.#heard.slice(parsed.length)
        return parsed.response
      }
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#heard)}`)
      await this.#stir.promise
    }
  }

  #wake(): void {
    this.#stir.resolve()
    this.#stir = Promise.withResolvers()
  }
}

const parse = (text: string): { response: RawResponse; length: number } | undefined => {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [line = '', ...fields] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(fields.map((field) => field.split(/: ?(.*)/s, 2) as [string, string]))
  const size = Number(Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const body = text.slice(end + 4, end + 4 + size)
  if (body.length < size) return undefined
  const status = Number(line.split(' ')[1])
  return { response: { status, headers, body: Buffer.from(body, 'latin1').toString() }, length: end + 4 + size }
}

/** Sends bytes, and reads the response. */
export const ask = async (url: string, request: string): Promise<RawResponse> => {
  const connection = await Connection.open(url)
  connection.send(request)
  const response = await connection.response()
  connection.destroy()
  return response
}
