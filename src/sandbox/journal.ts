import type { AnswerHeaders } from '../http/witness.ts'
import { toTimestamp } from '../kernel/clock.ts'
import { worldPart } from '../worlds/world.ts'
import type { RowChange } from './changes.ts'

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
  changes: RowChange[]
}

/**
 * A request and its answer as they went over the wire, secrets and all. It is held in memory alone, and made into an
 * entry whenever the journal is read: most entries never are, and making one costs more than answering most requests.
 */
export interface Exchange {
  atMs: number
  method: string
  /** Path and query. */
  path: string
  route: string | null
  client: string | null
  request: { headers: Headers; body: string | undefined }
  response: { status: number; headers: AnswerHeaders; body: string | Uint8Array | undefined }
  durationMs: number
  fault: string | null
  outcome: string | null
  changes: RowChange[]
}

/** How many requests a world remembers, and how many bytes of paths, bodies and rows; headers are short by nature. */
const ENTRIES_MAX = 1_000
const BYTES_MAX = 4_194_304
/** A longer body is cut: a journal is for looking at. */
const BODY_CHARACTERS_MAX = 65_536
/** So many characters in UTF-8, however they are written, and one more to tell that they were cut. */
const BODY_BYTES_MAX = 4 * (BODY_CHARACTERS_MAX + 1)

interface Kept {
  id: number
  size: number
  exchange: Exchange
}

/** The last requests of a world, the oldest first; bounded in number and in size. */
class Journal {
  readonly #kept: Kept[] = []
  #size = 0
  #lastId = 0

  add(exchange: Exchange): void {
    const size = sizeOf(exchange)
    this.#kept.push({ id: ++this.#lastId, size, exchange })
    this.#size += size
    while (this.#kept.length > ENTRIES_MAX || this.#size > BYTES_MAX) this.#size -= this.#kept.shift()?.size ?? 0
  }

  get entries(): JournalEntry[] {
    return this.#kept.map(toEntry)
  }

  find(id: number): JournalEntry | undefined {
    const kept = this.#kept.find((each) => each.id === id)
    return kept && toEntry(kept)
  }
}

export const journal = worldPart(() => new Journal())

const toEntry = ({ id, exchange }: Kept): JournalEntry => {
  const { atMs, path, route, request, response, ...rest } = exchange
  const sent = redactedHeaders(response.headers)
  return {
    ...rest,
    id,
    requestId: sent['x-request-id'] ?? '',
    at: toTimestamp(atMs),
    path: redactedPath(path),
    route: route && documentedRoute(route),
    request: { headers: redactedHeaders(request.headers), body: redactedBody(request.body) },
    response: { status: response.status, headers: sent, body: redactedBody(textOf(response.body)) },
  }
}

/** A room registers its root with a slash, which the document leaves out. */
const documentedRoute = (route: string): string => route.replace(/(?<=.)\/$/, '')

/** What an entry takes besides texts, roughly, and a noted row besides its key. */
const ENTRY_BYTES = 512
const CHANGE_BYTES = 64

const sizeOf = ({ path, request, response, changes }: Exchange): number => {
  let size = ENTRY_BYTES + path.length + byteCountOf(request.body) + byteCountOf(response.body)
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
    (headers instanceof Headers ? [...headers] : Object.entries(headers)).map(([name, value]) => [
      name,
      SECRET_HEADERS.has(name) ? REDACTED : String(value),
    ]),
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
