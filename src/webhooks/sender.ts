import { connect as connectPlainly, isIP, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { type AddressRules, findAddresses, hostOf } from './addresses.ts'
import { ResponseReader } from './response-reader.ts'

/** Sends deliveries over connections of its own: to an address that was checked, and through no proxy (decision 72). */

/** How long a receiver has to respond, in real time. */
const RESPONSE_MS_MAX = 15 * SECOND_MS

export interface Delivery {
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
}

/** Rejects never: a receiver that cannot be reached is a response without a status. */
export type Send = (delivery: Delivery, signal: AbortSignal) => Promise<ReceiverResponse>

export interface SenderOptions {
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
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(responseMsMax)])
    const [address] = (await untilAborted(findAddresses(url, rules), deadline)) ?? []
    const reader = new ResponseReader()
    if (address !== undefined) {
      const socket = connectTo(url, address, ca)
      await exchange(socket, requestText(url, { ...delivery, userAgent }), reader, deadline)
    }
    return { status: reader.status, body: reader.text, durationMs: Math.round(sinceStartMs() - startedMs) }
  }

const connectTo = (url: URL, host: string, ca: string | undefined): Socket => {
  const isSecure = url.protocol === 'https:'
  const port = url.port === '' ? (isSecure ? 443 : 80) : Number(url.port)
  if (!isSecure) return connectPlainly({ host, port })
  const name = hostOf(url)
  return connectSecurely({
    host,
    port,
    ...(isIP(name) === 0 && { servername: name }),
    ...(ca !== undefined && { ca }),
  })
}

/** Writes a request, and reads the response until the reader has enough, the connection ends or time is over. */
const exchange = (socket: Socket, request: string, reader: ResponseReader, deadline: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      deadline.removeEventListener('abort', end)
      socket.destroy()
      resolve()
    }
    if (deadline.aborted) return end()
    deadline.addEventListener('abort', end)
    socket.on('data', (bytes: Buffer) => {
      if (reader.read(bytes)) end()
    })
    socket.on('error', end)
    socket.on('close', end)
    socket.on('end', end)
    socket.on('encrypted' in socket ? 'secureConnect' : 'connect', () => socket.write(request))
  })

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

/** Undefined when time is over first. */
const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
    void work.then(resolve)
  })
