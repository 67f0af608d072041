import { connect, type Socket } from 'node:net'

/** HTTP/1.1 over a raw socket, so that a rig can send what no HTTP client would, and is not measured itself. */

export interface RawResponse {
  status: number
  /** Status line and header fields, as they came. */
  head: string
  body: Buffer
}

/** The connection ended before the response was whole. */
export class Broken extends Error {}

const HEAD_METHOD = Buffer.from('HEAD ')
const HEAD_END = Buffer.from('\r\n\r\n')
const CHUNKS_END = Buffer.from('0\r\n\r\n')
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i
const BODILESS = new Set([204, 304])
const STATUS_AT = 'HTTP/1.1 '.length

/** The properties of a response that its header gives. */
interface Begun {
  status: number
  head: string
  bodyAt: number
  /** The offset at which the response ends; undefined if its chunks say it. */
  endsAt: number | undefined
}

interface Settle {
  resolve: (response: RawResponse) => void
  reject: (reason: Error) => void
}

/** One connection, with one request at a time. */
export class Connection {
  #chunks: Buffer[] = []
  #bytes = 0
  #begun: Begun | undefined
  #settle: Settle | undefined
  #isBodiless = false
  isOpen = true

  private constructor(readonly socket: Socket) {
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#end(error.message))
    socket.on('close', () => this.#end('closed'))
  }

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new Connection(socket))
      })
    })
  }

  /** @throws Broken when the connection ends first */
  send(bytes: Uint8Array): Promise<RawResponse> {
    if (!this.isOpen) return Promise.reject(new Broken('closed before it was asked'))
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#isBodiless = HEAD_METHOD.every((byte, at) => bytes[at] === byte)
      this.socket.write(bytes)
    })
  }

  close(): void {
    this.isOpen = false
    this.socket.destroy()
  }

  /** Ends the connection after a request without a response in time. */
  giveUp(): void {
    this.#end('given up')
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#begun ??= beginningOf(this.#joined(), this.#isBodiless)
    if (!this.#begun) return
    const { status, head, bodyAt } = this.#begun
    const endsAt = this.#begun.endsAt ?? endOfChunks(this.#joined(), bodyAt)
    if (endsAt === undefined || this.#bytes < endsAt) return
    const received = this.#joined()
    const settle = this.#settle
    this.#settle = undefined
    this.#begun = undefined
    this.#chunks = [received.subarray(endsAt)]
    this.#bytes = received.length - endsAt
    settle?.resolve({ status, head, body: received.subarray(bodyAt, endsAt) })
  }

  #joined(): Buffer {
    const joined = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks)
    this.#chunks = [joined ?? Buffer.alloc(0)]
    return this.#chunks[0] as Buffer
  }

  #end(reason: string): void {
    this.isOpen = false
    const settle = this.#settle
    this.#settle = undefined
    settle?.reject(new Broken(`${reason} after ${this.#joined().toString('latin1', 0, 200)}`))
  }
}

/** The header of the first response in these bytes; undefined while it is not whole. */
const beginningOf = (bytes: Buffer, isBodiless: boolean): Begun | undefined => {
  let startsAt = 0
  let headEnd = bytes.indexOf(HEAD_END)
  if (headEnd !== -1 && bytes.toString('latin1', STATUS_AT, STATUS_AT + 3) === '100') {
    startsAt = headEnd + HEAD_END.length
    headEnd = bytes.indexOf(HEAD_END, startsAt)
  }
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', startsAt, headEnd)
  const status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
  const bodyAt = headEnd + HEAD_END.length
  if (isBodiless || BODILESS.has(status)) return { status, head, bodyAt, endsAt: bodyAt }
  const length = CONTENT_LENGTH.exec(head)?.[1]
  if (length === undefined && CHUNKED.test(head)) return { status, head, bodyAt, endsAt: undefined }
  return { status, head, bodyAt, endsAt: bodyAt + Number(length ?? 0) }
}

const endOfChunks = (bytes: Buffer, bodyAt: number): number | undefined => {
  const last = bytes.indexOf(CHUNKS_END, bodyAt)
  return last === -1 ? undefined : last + CHUNKS_END.length
}

export interface Ask {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Uint8Array
}

/** A request as bytes. */
export const bytesOf = ({ method, path, headers = {}, body }: Ask): Uint8Array => {
  const content = body === undefined ? undefined : Buffer.from(body)
  const lines = [`${method ?? (content ? 'POST' : 'GET')} ${path} HTTP/1.1`, 'Host: 127.0.0.1']
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`)
  if (content) lines.push(`Content-Length: ${content.length}`)
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content ?? Buffer.alloc(0)])
}

/** One request on its own connection. */
export const ask = async (port: number, question: Ask): Promise<RawResponse> => {
  const connection = await Connection.open(port)
  try {
    return await connection.send(bytesOf(question))
  } finally {
    connection.close()
  }
}
