import { SECOND_MS, sinceStartMs } from '../kernel/clock.ts'
import { type AddressRules, findAddresses } from './addresses.ts'
import { Connection, findIdle } from './connections.ts'
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
