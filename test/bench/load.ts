import { percentile } from '../rigs/report.ts'

/**
 * The load generator, a process of its own: raw sockets, prepared bytes, one request in flight on each connection. Of a
 * response it reads the status and where it ends, so that a slow generator is not measured instead of a server.
 */

/** A request as it is sent, and the status of its response. */
export interface Exchange {
  request: Uint8Array
  status: number
}

/** Sends exchanges to a server for a time, one after the other and over again. */
export interface Order {
  port: number
  connections: number
  seconds: number
  exchanges: readonly Exchange[]
}

export interface Measurement {
  perSecond: number
  p50Ms: number
  p99Ms: number
  /** All responses, also those of the warm-up. */
  responseCount: number
}

export type Report = Measurement | { problem: string }

/** Placeholder in a request for a number that differs in each request. */
export const UNNUMBERED = '#########'

/** Responses before this are not counted: connections are made, and caches filled. */
const WARM_UP_MS = 250
const HEAD_END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)
const STATUS = /^HTTP\/1.1 (\d{3})/
const LENGTH = /\r\ncontent-length: (\d+)/i

let requestCount = 0

const numbered = (request: Uint8Array): Uint8Array => {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.length)
  let at = bytes.indexOf(UNNUMBERED)
  if (at === -1) return request
  const copy = Buffer.from(bytes)
  const number = String(requestCount).padStart(UNNUMBERED.length, '0')
  for (; at !== -1; at = bytes.indexOf(UNNUMBERED, at + 1)) copy.write(number, at)
  return copy
}

const measure = async ({ port, connections, seconds, exchanges }: Order): Promise<Measurement> => {
  const startMs = performance.now() + WARM_UP_MS
  const endMs = startMs + seconds * 1_000
  const latenciesMs: number[] = []
  let responseCount = 0

  const converse = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let status = 0
      let sentAtMs = 0
      let received = NOTHING
      const send = (socket: Bun.Socket): void => {
        const exchange = exchanges[requestCount++ % exchanges.length] as Exchange
        status = exchange.status
        sentAtMs = performance.now()
        socket.write(numbered(exchange.request))
      }
      const receive = (socket: Bun.Socket, chunk: Buffer): void => {
        received = Buffer.concat([received, chunk])
        const headEnd = received.indexOf(HEAD_END)
        if (headEnd === -1) return
        const head = received.toString('latin1', 0, headEnd)
        const length = Number(LENGTH.exec(head)?.[1])
        if (Number(STATUS.exec(head)?.[1]) !== status || Number.isNaN(length)) {
          reject(new Error(`wanted ${status}: ${received.toString('utf8', 0, 500)}`))
          return
        }
        if (received.length < headEnd + HEAD_END.length + length) return
        received = NOTHING
        responseCount += 1
        const nowMs = performance.now()
        if (nowMs >= endMs) {
          resolve() // first: the end closes the connection at once
          socket.end()
          return
        }
        if (sentAtMs >= startMs) latenciesMs.push(nowMs - sentAtMs)
        send(socket)
      }
      const close = (): void => reject(new Error('the server has closed a connection'))
      const error = (_: Bun.Socket, reason: Error): void => reject(reason)
      const socket = { open: send, data: receive, close, error }
      Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(reject)
    })

  await Promise.all(Array.from({ length: connections }, converse))
  return {
    perSecond: latenciesMs.length / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p99Ms: percentile(latenciesMs, 0.99),
    responseCount,
  }
}

if (import.meta.main) {
  process.on('disconnect', () => process.exit())
  process.on('message', async (order: Order) => {
    process.send?.(await measure(order).catch((error: Error): Report => ({ problem: error.message })))
  })
}
