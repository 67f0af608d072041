import { documentedRoute } from '../../http/target.ts'
import type { AnswerHeaders } from '../../http/witness.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { turns } from '../../kernel/turns.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { RowChange } from './row-changes.ts'

/** One request as it was and as it was answered, without secrets. */
export interface JournalEntry {
  id: number
  requestId: string
  at: string
  method: string
  /** Path and query. */
  path: string
  route: string | null
  client: string | null
  request: { headers: Record<string, string>; body: string | null }
  response: { status: number; headers: Record<string, string>; body: string | null }
  durationMs: number
  /** The name of the fault that struck. */
  fault: string | null
  /** The documented name of how it ended. */
  outcome: string | null
  changes: readonly RowChange[]
}

/**
 * A request and its answer as they went over the wire, secrets and all. It is held in memory alone, and made into an
 * entry whenever the journal is read: most entries never are, and making one costs more than answering most requests.
 */
export interface Exchange {
  readonly atMs: number
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly route: string | null
  readonly client: string | null
  readonly requestHeaders: Headers
  readonly requestBody: string | undefined
  readonly status: number
  readonly responseHeaders: AnswerHeaders
  readonly responseBody: string | Uint8Array | undefined
  readonly durationMs: number
  readonly fault: string | null
  /** The documented name of how it ended. */
  readonly outcome: string | null
  readonly changes: readonly RowChange[]
}

/** How many requests a world remembers, and how many bytes of paths, headers, bodies and rows. */
const ENTRIES_MAX = 1_000
const BYTES_MAX = 4_194_304
/** A longer body is cut: a journal is for looking at. */
const BODY_CHARACTERS_MAX = 65_536
/** So many characters in UTF-8, however they are written, and one more to tell that they were cut. */
const BODY_BYTES_MAX = 4 * (BODY_CHARACTERS_MAX + 1)

/** The last requests of a world, the oldest first; bounded in number and in size. */
class Journal {
  readonly #exchanges: Exchange[] = []
  /** Of each of them. */
  readonly #sizes: number[] = []
  #size = 0
  #lastId = 0

  constructor(private readonly world: World) {
    world.onLimited(() => this.#trim())
  }

  add(exchange: Exchange): void {
    const size = sizeOf(exchange)
    this.#lastId += 1
    this.#exchanges.push(exchange)
    this.#sizes.push(size)
    this.#size += size
    this.#trim()
  }

  /** The oldest go first, until the journal fits into what it may take. */
  #trim(): void {
    const bytesMax = Math.min(BYTES_MAX, this.world.keptBytesMax)
    while (this.#exchanges.length > ENTRIES_MAX || (this.#size > bytesMax && this.#exchanges.length > 0)) {
      this.#exchanges.shift()
      this.#size -= this.#sizes.shift() ?? 0
    }
    this.world.keptBytes = this.#size
  }

  /** All entries, made in slices: to redact a few megabytes takes longer than others should wait. */
  async entries(): Promise<JournalEntry[]> {
    const exchanges = [...this.#exchanges]
    const firstId = this.#firstId
    const entries: JournalEntry[] = []
    while (entries.length < exchanges.length) {
      await turns.take(this.world, (isOver) => {
        do {
          const exchange = exchanges[entries.length]
          if (exchange) entries.push(toEntry(exchange, firstId + entries.length))
        } while (entries.length < exchanges.length && !isOver())
      })
    }
    return entries
  }

  find(id: number): JournalEntry | undefined {
    const exchange = this.#exchanges[id - this.#firstId]
    return exchange && toEntry(exchange, id)
  }

  /** They are numbered as they come, and go in the same order. */
  get #firstId(): number {
    return this.#lastId - this.#exchanges.length + 1
  }
}

export const journal = worldPart((world) => new Journal(world))

const toEntry = (exchange: Exchange, id: number): JournalEntry => {
  const { atMs, method, path, route, client, status, durationMs, fault, outcome, changes } = exchange
  const sent = redactedHeaders(exchange.responseHeaders)
  return {
    id,
    requestId: sent['x-request-id'] ?? '',
    at: toTimestamp(atMs),
    method,
    path: redactedPath(path),
    route: route && documentedRoute(route),
    client,
    request: { headers: redactedHeaders(exchange.requestHeaders), body: redactedBody(exchange.requestBody) },
    response: { status, headers: sent, body: redactedBody(textOf(exchange.responseBody)) },
    durationMs: Math.round(durationMs * 1_000) / 1_000,
    fault,
    outcome,
    changes,
  }
}

/** What an entry takes besides texts, roughly, a header besides its value, and a noted row besides its key. */
const ENTRY_BYTES = 2_048
const HEADER_BYTES = 64
const CHANGE_BYTES = 64

const sizeOf = ({ path, requestHeaders, requestBody, responseBody, changes }: Exchange): number => {
  let size = ENTRY_BYTES + path.length + byteCountOf(requestBody) + byteCountOf(responseBody)
  // Those of answers are few and short.
  requestHeaders.forEach((value) => {
    size += HEADER_BYTES + value.length
  })
  for (const { key } of changes) size += CHANGE_BYTES + key.length
  return size
}

const byteCountOf = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0)

/** Bytes are those of a prepared page: enough of it to be cut to what is shown. */
export const worthKeeping = (body: Uint8Array): Uint8Array =>
  body.byteLength > BODY_BYTES_MAX ? body.slice(0, BODY_BYTES_MAX) : body

const textOf = (body: string | Uint8Array | undefined): string | undefined =>
  typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString()

const SECRET_HEADERS = new Set(['authorization', 'cookie', 'x-sandbox-token', 'proxy-authorization'])
const REDACTED = '[redacted]'

/** Headers without what opens doors. */
const redactedHeaders = (headers: AnswerHeaders): Record<string, string> =>
  Object.fromEntries(
    (headers instanceof Headers ? [...headers] : Object.entries(headers)).map(([spelled, value]) => {
      const name = spelled.toLowerCase()
      return [name, SECRET_HEADERS.has(name) ? REDACTED : String(value)]
    }),
  )

const SECRET_NAMES = 'password|access_token|refresh_token|card_number|pin_code|claim_url'
/** A name may be written in escapes; what holds neither a name nor an escape holds no secret. */
const SUSPECT = new RegExp(`${SECRET_NAMES}|\\\\u`, 'i')
const SECRET_MEMBER = new RegExp(`^(?:${SECRET_NAMES})$`, 'i')

/** A body without passwords, tokens and voucher codes, cut to what is worth looking at. */
const redactedBody = (body: string | undefined): string | null => {
  if (body === undefined || body === '') return null
  const safe = SUSPECT.test(body) ? withoutSecrets(body) : body
  return safe.length > BODY_CHARACTERS_MAX ? `${safe.slice(0, BODY_CHARACTERS_MAX)}…` : safe
}

/** What is no JSON and yet speaks of secrets is not kept at all. */
const withoutSecrets = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body, redactedMember))
  } catch {
    return REDACTED
  }
}

const redactedMember = (name: string, member: unknown): unknown => {
  if (SECRET_MEMBER.test(name) && member !== null && !isListOfMessages(member)) return REDACTED
  return typeof member === 'string' && JSON_WITHIN.test(member) && SUSPECT.test(member)
    ? withoutSecrets(member)
    : member
}

/** A text that may be JSON in its turn, as metadata often is. */
const JSON_WITHIN = /^\s*["[{]/

/** What is said about a secret, in the messages of a refusal. */
const isListOfMessages = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null && 'rule' in item)

/** A path and query without tokens, where none belong. */
const redactedPath = (path: string): string => {
  const start = path.indexOf('?') + 1
  return start === 0 ? path : path.slice(0, start) + path.slice(start).split('&').map(redactedParameter).join('&')
}

const redactedParameter = (parameter: string): string => {
  const [name = ''] = new URLSearchParams(parameter).keys()
  return SECRET_MEMBER.test(name) ? `${name}=${REDACTED}` : parameter
}
