import { connect, type Socket } from 'node:net'

/** HTTP/1.1 over a raw socket, so that a rig can send what no HTTP client would, and is not measured itself. */

export interface Answer {
  status: number
  /** Status line and header fields, as they came. */
  head: string
  body: Buffer
}

/** The connection ended before the answer was whole. */
export class Broken extends Error {}

const HEAD_END = Buffer.from('\r\n\r\n')
const CHUNKS_END = Buffer.from('0\r\n\r\n')
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i
const CHUNKED = /\r\ntransfer-encoding: *chunked/i
const BODILESS = new Set([204, 304])
const STATUS_AT = 'HTTP/1.1 '.length

/** One connection, which asks one thing at a time. */
export class Connection {
  #received: Buffer = Buffer.alloc(0)
  #settle: { resolve: (answer: Answer) => void; reject: (reason: Error) => void } | undefined
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
  send(bytes: Uint8Array | string): Promise<Answer> {
    if (!this.isOpen) return Promise.reject(new Broken('closed before it was asked'))
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
      this.#isBodiless = typeof bytes === 'string' ? bytes.startsWith('HEAD ') : bytes[0] === 0x48 && bytes[1] === 0x45
      this.socket.write(bytes)
    })
  }

  close(): void {
    this.isOpen = false
    this.socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const taken = this.#settle && answerIn(this.#received, this.#isBodiless)
    if (!taken) return
    this.#received = this.#received.subarray(taken.bytes)
    const settle = this.#settle
    this.#settle = undefined
    settle?.resolve(taken.answer)
  }

  #end(reason: string): void {
    this.isOpen = false
    const settle = this.#settle
    this.#settle = undefined
    settle?.reject(new Broken(`${reason} after ${this.#received.toString('latin1', 0, 200)}`))
  }
}

/** The first answer in these bytes, and how many of them it is; undefined while it is not whole. */
const answerIn = (bytes: Buffer, isBodiless: boolean): { answer: Answer; bytes: number } | undefined => {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.slice(STATUS_AT, STATUS_AT + 3))
  const bodyAt = headEnd + HEAD_END.length
  let end = bodyAt
  if (status === 100) return answerIn(bytes.subarray(bodyAt), isBodiless)
  if (!isBodiless && !BODILESS.has(status)) {
    const length = CONTENT_LENGTH.exec(head)?.[1]
    if (length !== undefined) end = bodyAt + Number(length)
    else if (CHUNKED.test(head)) {
      const last = bytes.indexOf(CHUNKS_END, bodyAt)
      if (last === -1) return undefined
      end = last + CHUNKS_END.length
    }
  }
  if (bytes.length < end) return undefined
  return { answer: { status, head, body: Buffer.from(bytes.subarray(bodyAt, end)) }, bytes: end }
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

/** One question on a connection of its own. */
export const ask = async (port: number, question: Ask): Promise<Answer> => {
  const connection = await Connection.open(port)
  try {
    return await connection.send(bytesOf(question))
  } finally {
    connection.close()
  }
}
