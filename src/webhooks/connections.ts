import { connect, isIP, type Socket } from 'node:net'
import { SECOND_MS } from '../kernel/clock.ts'
import { hostOf } from './addresses.ts'
import type { ResponseReader } from './response-reader.ts'

/** Connections to receivers. One whose response has ended waits a little for the next delivery to the same address. */

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
export const findIdle = (idle: Iterable<Connection>, target: Target): Connection | undefined =>
  [...idle].findLast(({ key }) => key === keyOf(target))

export class Connection {
  readonly key: string
  readonly #socket: Socket
  #reader: ResponseReader | undefined
  #end: (problem?: string) => void = () => undefined

  constructor(
    target: Target,
    /** The waiting connections. */
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
