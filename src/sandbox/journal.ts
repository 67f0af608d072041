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

/** How many requests a world remembers, and how many bytes of bodies. */
const ENTRIES_MAX = 1_000
const BYTES_MAX = 4_194_304
/** A longer body is cut: a journal is for looking at. */
const BODY_CHARACTERS_MAX = 65_536

/** The last requests of a world, the oldest first; bounded in number and in size. */
class Journal {
  #entries: { entry: JournalEntry; size: number }[] = []
  #size = 0
  #lastId = 0

  add(entry: Omit<JournalEntry, 'id'>): void {
    const kept: JournalEntry = { id: ++this.#lastId, ...entry }
    const size = sizeOf(kept)
    this.#entries.push({ entry: kept, size })
    this.#size += size
    while (this.#entries.length > ENTRIES_MAX || this.#size > BYTES_MAX) this.#size -= this.#entries.shift()?.size ?? 0
  }

  get entries(): JournalEntry[] {
    return this.#entries.map(({ entry }) => entry)
  }

  find(id: number): JournalEntry | undefined {
    return this.#entries.find(({ entry }) => entry.id === id)?.entry
  }
}

export const journal = worldPart(() => new Journal())

/** What an entry takes besides texts, roughly. */
const ENTRY_BYTES = 512

const sizeOf = ({ path, request, response }: JournalEntry): number =>
  ENTRY_BYTES + path.length + messageSize(request) + messageSize(response)

const messageSize = ({ headers, body }: { headers: Record<string, string>; body: string | null }): number => {
  let size = body?.length ?? 0
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0)
  return size
}

const SECRET_HEADERS = new Set(['authorization', 'cookie', 'x-sandbox-token', 'proxy-authorization'])
const REDACTED = '[redacted]'

/** Headers without what opens doors. */
export const redactedHeaders = (headers: Iterable<readonly [string, string]>): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name, SECRET_HEADERS.has(name) ? REDACTED : value]))

const SECRET_NAMES = 'password|access_token|refresh_token|card_number|pin_code|claim_url'
/** A name may be written in escapes; what holds neither a name nor an escape holds no secret. */
const SUSPECT = new RegExp(`${SECRET_NAMES}|\\\\u`, 'i')
const SECRET_MEMBER = new RegExp(`^(?:${SECRET_NAMES})$`, 'i')
const SECRET_PARAMETERS = new RegExp(`([?&](?:${SECRET_NAMES})=)[^&]*`, 'gi')

/** A body without passwords, tokens and voucher codes, cut to what is worth looking at. */
export const redactedBody = (body: string | undefined): string | null => {
  if (body === undefined || body === '') return null
  const safe = SUSPECT.test(body) ? withoutSecrets(body) : body
  return safe.length > BODY_CHARACTERS_MAX ? `${safe.slice(0, BODY_CHARACTERS_MAX)}…` : safe
}

/** What is no JSON and yet speaks of secrets is not kept at all. */
const withoutSecrets = (body: string): string => {
  let found = false
  try {
    const value: unknown = JSON.parse(body, (name, member: unknown) => {
      if (!SECRET_MEMBER.test(name) || member === null || isListOfObjects(member)) return member
      found = true
      return REDACTED
    })
    return found ? JSON.stringify(value) : body
  } catch {
    return REDACTED
  }
}

/** What is said about a secret, as in the messages of a refusal. */
const isListOfObjects = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null)

/** A path and query without tokens, where none belong. */
export const redactedPath = (path: string): string => path.replace(SECRET_PARAMETERS, `$1${REDACTED}`)
