import { connect, isIP, type Socket } from 'node:net'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { type AddressRules, findAddresses, hostOf } from './addresses.ts'
import { ResponseReader } from './response-reader.ts'

/** Sends deliveries over its own connections: to an address that was checked, without a proxy (decision 72). */

/** The time that a receiver has to respond, in real time. */
const RESPONSE_MS_MAX = 15 * SECOND_MS

interface Delivery {
  url: string
  headers: Readonly<Record<string, string>>
  body: string
}

/** The response of a receiver; null without a response in time. */
export interface ReceiverResponse {
  status: number | null
  /** The beginning of the body. */
  body: string | null
  durationMs: number
  /** The reason of a missing status, for people. */
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

export const createSender = ({ rules, userAgent, ca, responseMsMax = RESPONSE_MS_MAX }: SenderOptions): Send => {
  const idle = new Set<Connection>()
  return async (delivery, signal) => {
    const startedMs = sinceStartMs()
    const url = new URL(delivery.url)
    const deadline = deadlineOf(responseMsMax, signal)
    const [address] = (await deadline.until(findAddresses(url, rules))) ?? []
    const request = requestText(url, { ...delivery, userAgent })
    const reader = new ResponseReader()
    const target = address === undefined ? undefined : { url, address, ca }
    const kept = target && findIdle(idle, target)
    let problem = kept ? await kept.send(request, reader, deadline) : NO_ADDRESS
    // A receiver may have closed a kept connection while the request was on its way.
    if (target && !reader.hasBegun && !deadline.hasPassed) {
      problem = await new Connection(target, idle).send(request, reader, deadline)
    }
    const error = reader.status === null ? (deadline.hasPassed ? TOO_LATE : (problem ?? NO_RESPONSE)) : null
    deadline.end()
    const { status, text: body } = reader
    return { status, body, durationMs: Math.round(sinceStartMs() - startedMs), error }
  }
}

const requestText = (url: URL, { body, headers, userAgent }: Delivery & { userAgent: string }): string => {
  const fields = {
    Host: url.host,
    'User-Agent': userAgent,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${url.pathname}${url.search} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/** A deadline passes after this many milliseconds, or when a signal aborts. */
const deadlineOf = (milliseconds: number, signal: AbortSignal) => {
  const over = Promise.withResolvers<undefined>()
  const deadline = {
    hasPassed: false,
    /** Resolves to undefined when time is over first. */
    until: <T>(work: Promise<T>): Promise<T | undefined> => Promise.race([work, over.promise]),
    end: (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', pass)
    },
  }
  const pass = (): void => {
    deadline.hasPassed = true
    over.resolve(undefined)
  }
  const timer = setTimeout(pass, milliseconds)
  if (signal.aborted) pass()
  else signal.addEventListener('abort', pass)
  return deadline
}

/** Less than the five seconds after which common servers close theirs. */
const IDLE_MS_MAX = 4 * SECOND_MS
/** The maximum number of deliveries at once (contract C16). */
const IDLE_MAX = 64

interface Target {
  url: URL
  /** An address of its host, which was checked for this delivery. */
  address: string
  ca: string | undefined
}

const keyOf = ({ url, address }: Target): string => `${url.protocol}//${url.host} ${address}`

/** Resolves to undefined when time is over first. */
type Until = <T>(work: Promise<T>) => Promise<T | undefined>

/** A waiting connection to the same address, under the same name. */
const findIdle = (idle: Iterable<Connection>, target: Target): Connection | undefined =>
  [...idle].findLast(({ key }) => key === keyOf(target))

class Connection {
  readonly key: string
  readonly #socket: Socket
  #reader: ResponseReader | undefined
  #end: (problem?: string) => void = () => undefined

  constructor(
    target: Target,
    private readonly idle: Set<Connection>,
  ) {
    this.key = keyOf(target)
    this.#socket = socketTo(target)
    this.#socket.on('data', (bytes: Buffer) => {
      // Without a reader, no request is in progress.
      if (!this.#reader) this.#close()
      else if (this.#reader.read(bytes)) this.#end()
    })
    this.#socket.on('error', (error) => this.#close(wordsOf(error)))
    for (const ending of ['end', 'close', 'timeout'] as const) this.#socket.on(ending, () => this.#close())
  }

  /**
   * Resolves once the reader has enough of the response, the connection has ended, or time is over; to the error of the
   * connection if it has one. Keeps a reusable connection for another request, and closes any other.
   */
  async send(request: string, reader: ResponseReader, { until }: { until: Until }): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>()
    this.idle.delete(this)
    this.#reader = reader
    this.#end = resolve
    this.#socket.setTimeout(0).ref().write(request)
    const problem = await until(promise)
    this.#reader = undefined
    if (reader.isReusable && !this.#socket.destroyed && this.idle.size < IDLE_MAX) {
      this.idle.add(this)
      this.#socket.setTimeout(IDLE_MS_MAX).unref() // does not hold up the end of the process
    } else {
      this.#close()
    }
    return problem
  }

  #close(problem?: string): void {
    this.idle.delete(this)
    this.#end(problem)
    this.#socket.destroy()
  }
}

const socketTo = ({ url, address: host, ca }: Target): Socket => {
  if (url.protocol === 'http:') return connect({ host, port: Number(url.port || 80) })
  const name = hostOf(url)
  // Loaded when it is needed, because it delays the start.
  return process.getBuiltinModule('node:tls').connect({
    host,
    port: Number(url.port || 443),
    rejectUnauthorized: true, // overrides NODE_TLS_REJECT_UNAUTHORIZED
    ...(isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
}

/** The code of an error, which is easier to search for than its message. */
const wordsOf = ({ code, message }: NodeJS.ErrnoException): string => code ?? message
