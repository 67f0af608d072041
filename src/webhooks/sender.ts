import { connect, isIP, type Socket } from 'node:net'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { type AddressRules, findAddresses, hostOf } from './addresses.ts'
import { ResponseReader } from './response-reader.ts'

/** Sends deliveries over connections of its own: to an address that was checked, and through no proxy (decision 72). */

/** How long a receiver has to respond, in real time. */
const RESPONSE_MS_MAX = 15 * SECOND_MS

interface Delivery {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** What a receiver responded; null without a response in time. */
export interface ReceiverResponse {
  status: number | null
  /** The beginning of the body. */
  body: string | null
  durationMs: number
  /** Why there is no status, for people. */
  error: string | null
}

/** Never rejects: a receiver that cannot be reached is a response without a status. */
export type Send = (delivery: Delivery, signal: AbortSignal) => Promise<ReceiverResponse>

const NO_ADDRESS = 'the name is unknown, or leads to an address that is not allowed'
const TOO_LATE = 'no response in time'
const NO_RESPONSE = 'no HTTP response'

interface SenderOptions {
  rules: AddressRules
  userAgent: string
  /** Certificates that are trusted besides those of the machine. */
  ca?: string
  responseMsMax?: number
}

export const createSender =
  ({ rules, userAgent, ca, responseMsMax = RESPONSE_MS_MAX }: SenderOptions): Send =>
  async (delivery, signal) => {
    const startedMs = sinceStartMs()
    const url = new URL(delivery.url)
    const deadline = new Deadline(responseMsMax, signal)
    const [address] = (await deadline.until(findAddresses(url, rules))) ?? []
    const reader = new ResponseReader()
    const request = requestText(url, { ...delivery, userAgent })
    const problem = address === undefined ? NO_ADDRESS : await exchange({ url, address, ca }, request, reader, deadline)
    const error = reader.status === null ? (deadline.hasPassed ? TOO_LATE : (problem ?? NO_RESPONSE)) : null
    deadline.end()
    const { status, text: body } = reader
    return { status, body, durationMs: Math.round(sinceStartMs() - startedMs), error }
  }

interface Target {
  url: URL
  /** An address of its host. */
  address: string
  ca: string | undefined
}

/**
 * Writes a request, and reads the response until the reader has enough, the connection ends or time is over.
 * Returns what went wrong with the connection.
 */
const exchange = async (
  target: Target,
  request: string,
  reader: ResponseReader,
  deadline: Deadline,
): Promise<string | undefined> => {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = socketTo(target)
  socket.on('data', (bytes: Buffer) => {
    if (reader.read(bytes)) resolve(undefined)
  })
  socket.on('error', (error) => resolve(wordsOf(error)))
  for (const ending of ['end', 'close'] as const) socket.on(ending, () => resolve(undefined))
  socket.write(request)
  const problem = await deadline.until(promise)
  socket.destroy()
  return problem
}

const socketTo = ({ url, address: host, ca }: Target): Socket => {
  if (url.protocol === 'http:') return connect({ host, port: Number(url.port || 80) })
  const name = hostOf(url)
  // Loaded when it is needed, because it delays the start.
  return process.getBuiltinModule('node:tls').connect({
    host,
    port: Number(url.port || 443),
    rejectUnauthorized: true, // whatever NODE_TLS_REJECT_UNAUTHORIZED says
    ...(isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
}

/** The code of an error says more to people who search for it. */
const wordsOf = ({ code, message }: NodeJS.ErrnoException): string => code ?? message

const requestText = (url: URL, { body, headers, userAgent }: Delivery & { userAgent: string }): string => {
  const fields = {
    Host: url.host,
    'User-Agent': userAgent,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/** Time is over after this many milliseconds, or when a signal says so. */
class Deadline {
  readonly #over = Promise.withResolvers<undefined>()
  readonly #timer: ReturnType<typeof setTimeout>

  constructor(
    milliseconds: number,
    private readonly signal: AbortSignal,
  ) {
    this.#timer = setTimeout(this.#pass, milliseconds)
    if (signal.aborted) this.#pass()
    else signal.addEventListener('abort', this.#pass)
  }

  /** Undefined when time is over first. */
  until<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#over.promise])
  }

  hasPassed = false

  readonly #pass = (): void => {
    this.hasPassed = true
    this.#over.resolve(undefined)
  }

  end(): void {
    clearTimeout(this.#timer)
    this.signal.removeEventListener('abort', this.#pass)
  }
}
