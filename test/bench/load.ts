/**
 * The load generator, a process of its own: raw sockets, prepared bytes, one request in flight on each connection.
 * It reads of a response the status, the length, and where the next one begins; a sample of bodies it reads whole.
 * It is given work and orders by its parent's messages, and stays, so that what is measured never includes its start.
 */

/** A request as it goes out, and what has to come back. */
export interface Exchange {
  request: Uint8Array
  status: number
  /** Left out where responses differ in length: of those the status alone is held against what was expected. */
  bodyLength?: number
  /** Of the body, as {@link fingerprintOf} makes it; left out with its length. */
  fingerprint?: string
  /** Where the request holds a number of {@link FRESH_DIGITS} digits that has to be another one each time. */
  freshAt?: number
}

export const FRESH_DIGITS = 9

/** What the generator sends from now on, one after the other and over again. */
export interface Work {
  kind: 'work'
  exchanges: readonly Exchange[]
}

/** Send it, to one server, for a time. */
export interface Order {
  kind: 'order'
  port: number
  connections: number
  seconds: number
}

export interface Measurement {
  perSecond: number
  p50Us: number
  p99Us: number
  /** The part of its core that the generator needed: near 1 it is the generator that was measured. */
  loadShare: number
  /** How many bodies were read whole and were right. */
  sampled: number
  /** All responses, those among them that are not counted above: what the server has worked for. */
  responseCount: number
}

export type Report = { kind: 'measured'; measurement: Measurement } | { kind: 'failed'; problem: string }

/** What differs between two responses that are otherwise the same: a fresh id and the time. */
const VOLATILE = /"ben_[0-9a-z]+"|"created_at":"[^"]*"/g

/** Tells two bodies apart, but for what is different each time. */
export const fingerprintOf = (body: string): string => Bun.hash(body.replace(VOLATILE, '')).toString(36)

/** Responses before this are not counted: connections are being made, and caches filled. */
const WARM_UP_MS = 250
/** One body in so many is read whole; a prime, so that all requests have their turn. */
const SAMPLE_EVERY = 997
/** Latencies are counted in buckets of a microsecond, up to this many. */
const LATENCY_US_MAX = 1_000_000
/** However slow the responses are, so many are waited for. */
const COUNTED_MIN = 8
/** A server that has given no response for so long has stopped responding. */
const STALLED_MS = 20_000

const HEADER_END = Buffer.from('\r\n\r\n')
const LENGTH_FIELD = Buffer.from('\r\ncontent-length: ')
/** Responses that have no body, whatever they say of one. */
const BODILESS = new Set([204, 304])
const STATUS_AT = 'HTTP/1.1 '.length
const [LINE_FEED, ZERO, NINE, LOWER] = [0x0a, 0x30, 0x39, 0x20]

/** One connection: the request that is in flight, and what is still to come of its response. */
interface Flight {
  exchange: Exchange
  sentAtMs: number
  /** Bytes of the response that came before its header was whole; empty nearly always. */
  begun: Buffer
  /** Bytes of the body that are still to come; -1 while the header is. */
  missing: number
  /** The body so far, when this one is read whole. */
  sample: Buffer[] | undefined
}

/** Sends the work to one server for a time and measures its responses. */
const measure = (exchanges: readonly Exchange[], { port, connections, seconds }: Order): Promise<Measurement> =>
  new Promise((resolve, reject) => {
    const latencies = new Uint32Array(LATENCY_US_MAX + 1)
    const beginsAtMs = performance.now() + WARM_UP_MS
    let beganAtMs = 0
    let endsAtMs = Number.POSITIVE_INFINITY
    let cpuAtStart = process.cpuUsage()
    let sent = 0
    let counted = 0
    let responseCount = 0
    let sampled = 0
    let open = connections
    let measurement: Measurement | undefined
    const sockets: Bun.Socket<Flight>[] = []

    const fail = (problem: string): void => {
      clearInterval(stalled)
      reject(new Error(problem)) // first: closing the sockets is a problem too, and only the first one counts
      for (const socket of sockets) socket.terminate()
    }
    let countBefore = -1
    const stalled = setInterval(() => {
      if (responseCount === countBefore) fail('the server has stopped responding')
      countBefore = responseCount
    }, STALLED_MS)

    const send = (socket: Bun.Socket<Flight>, nowMs: number): void => {
      const exchange = exchanges[sent % exchanges.length] as Exchange
      socket.data.exchange = exchange
      socket.data.sentAtMs = nowMs
      socket.data.missing = -1
      socket.data.sample = sent % SAMPLE_EVERY === 0 ? [] : undefined
      sent += 1
      if (exchange.freshAt !== undefined) refresh(exchange.request, exchange.freshAt)
      if (socket.write(exchange.request) !== exchange.request.length) fail('a request did not fit into its socket')
    }

    const finish = (nowMs: number): Measurement => {
      const { user, system } = process.cpuUsage(cpuAtStart)
      const elapsedMs = nowMs - beganAtMs
      return {
        perSecond: (counted / elapsedMs) * 1_000,
        p50Us: percentile(latencies, counted, 0.5),
        p99Us: percentile(latencies, counted, 0.99),
        loadShare: (user + system) / 1_000 / elapsedMs,
        sampled: 0,
        responseCount: 0,
      }
    }

    const arrived = (socket: Bun.Socket<Flight>): void => {
      const nowMs = performance.now()
      const { sample, exchange, sentAtMs } = socket.data
      responseCount += 1
      if (sample) {
        const body = Buffer.concat(sample).toString()
        if (exchange.fingerprint !== undefined && fingerprintOf(body) !== exchange.fingerprint) {
          fail(`a wrong body: ${body.slice(0, 500)}`)
          return
        }
        sampled += 1
      }
      if (nowMs >= endsAtMs && counted >= COUNTED_MIN) {
        measurement ??= finish(nowMs)
        socket.end()
        return
      }
      if (nowMs >= beginsAtMs) {
        if (beganAtMs === 0) {
          beganAtMs = nowMs
          endsAtMs = nowMs + seconds * 1_000
          cpuAtStart = process.cpuUsage()
        } else {
          counted += 1
          const us = Math.min(Math.round((nowMs - sentAtMs) * 1_000), LATENCY_US_MAX)
          latencies[us] = (latencies[us] ?? 0) + 1
        }
      }
      send(socket, nowMs)
    }

    const received = (socket: Bun.Socket<Flight>, chunk: Buffer): void => {
      const flight = socket.data
      let body = chunk
      if (flight.missing === -1) {
        const response = flight.begun.length === 0 ? chunk : Buffer.concat([flight.begun, chunk])
        const headerEnd = response.indexOf(HEADER_END)
        if (headerEnd === -1) {
          flight.begun = Buffer.from(response)
          return
        }
        flight.begun = NOTHING
        const responseStatus = statusOf(response)
        const announced = BODILESS.has(responseStatus) ? 0 : lengthOf(response, headerEnd)
        const { status, bodyLength = announced } = flight.exchange
        if (responseStatus !== status || announced !== bodyLength) {
          fail(`wanted ${status} and ${bodyLength} bytes, got: ${response.toString().slice(0, 500)}`)
          return
        }
        flight.missing = announced
        body = response.subarray(headerEnd + HEADER_END.length)
      }
      flight.sample?.push(Buffer.from(body))
      flight.missing -= body.length
      if (flight.missing < 0) fail('more bytes than were announced')
      else if (flight.missing === 0) arrived(socket)
    }

    const closed = (): void => {
      open -= 1
      if (!measurement) fail('the server closed a connection')
      else if (open === 0) {
        clearInterval(stalled)
        resolve({ ...measurement, sampled, responseCount })
      }
    }

    for (let i = 0; i < connections; i++) {
      Bun.connect<Flight>({
        hostname: '127.0.0.1',
        port,
        socket: {
          open: (socket) => {
            sockets.push(socket)
            const exchange = exchanges[0] as Exchange
            socket.data = { exchange, sentAtMs: 0, begun: NOTHING, missing: -1, sample: undefined }
            send(socket, performance.now())
          },
          data: received,
          close: closed,
        },
      }).catch((error: unknown) => fail(String(error)))
    }
  })

const NOTHING = Buffer.alloc(0)

/** How many numbers this process has used up, over all of its work. */
let freshNumbers = 0

/** Writes the next number over the last one: the bytes are sent before they change again. */
const refresh = (request: Uint8Array, at: number): void => {
  let left = ++freshNumbers
  for (let digit = at + FRESH_DIGITS - 1; digit >= at; digit--) {
    request[digit] = ZERO + (left % 10)
    left = Math.floor(left / 10)
  }
}

const statusOf = (response: Buffer): number => Number(response.toString('latin1', STATUS_AT, STATUS_AT + 3))

/** The Content-Length of a response, whatever the case of its name; -1 when it has none. */
const lengthOf = (response: Buffer, headerEnd: number): number => {
  for (let at = response.indexOf(LINE_FEED); at !== -1 && at < headerEnd; at = response.indexOf(LINE_FEED, at + 1)) {
    let matched = 1
    while (matched < LENGTH_FIELD.length - 1) {
      if (((response[at + matched] ?? 0) | LOWER) !== ((LENGTH_FIELD[matched + 1] ?? 0) | LOWER)) break
      matched += 1
    }
    if (matched < LENGTH_FIELD.length - 1) continue
    let length = 0
    for (let digit = at + matched; (response[digit] ?? 0) >= ZERO && (response[digit] ?? 0) <= NINE; digit++) {
      length = length * 10 + (response[digit] ?? 0) - ZERO
    }
    return length
  }
  return -1
}

const percentile = (latencies: Uint32Array, count: number, part: number): number => {
  let left = count * part
  for (let us = 0; us < latencies.length; us++) {
    left -= latencies[us] ?? 0
    if (left <= 0) return us
  }
  return LATENCY_US_MAX
}

if (import.meta.main) {
  let exchanges: readonly Exchange[] = []
  const report = (message: Report): void => void process.send?.(message)
  process.on('disconnect', () => process.exit())
  process.on('message', (message: Work | Order) => {
    if (message.kind === 'work') exchanges = message.exchanges
    else {
      measure(exchanges, message).then(
        (measurement) => report({ kind: 'measured', measurement }),
        (error: Error) => report({ kind: 'failed', problem: error.message }),
      )
    }
  })
}
