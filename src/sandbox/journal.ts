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
export const ENTRIES_MAX = 1_000
const BYTES_MAX = 4_194_304
/** A longer body is cut: a journal is for looking at. */
const BODY_CHARACTERS_MAX = 65_536

/** The last requests of a world, the oldest first; bounded in number and in size. */
export class Journal {
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

const sizeOf = ({ path, request, response }: JournalEntry): number =>
  path.length + (request.body?.length ?? 0) + (response.body?.length ?? 0) + 512

const SECRET_HEADERS = new Set(['authorization', 'cookie', 'x-sandbox-token', 'proxy-authorization'])
const REDACTED = '[redacted]'

/** Headers without what opens doors. */
export const redactedHeaders = (headers: Iterable<readonly [string, string]>): Record<string, string> =>
  Object.fromEntries([...headers].map(([name, value]) => [name, SECRET_HEADERS.has(name) ? REDACTED : value]))

const SECRET_MEMBERS =
  /("(?:password|access_token|refresh_token|card_number|pin_code|claim_url)"\s*:\s*)"(?:[^"\\]|\\.)*"/g

/** A body without passwords, tokens and voucher codes, cut to what is worth looking at. */
export const redactedBody = (body: string | undefined): string | null => {
  if (body === undefined || body === '') return null
  const safe = body.replace(SECRET_MEMBERS, `$1"${REDACTED}"`)
  return safe.length > BODY_CHARACTERS_MAX ? `${safe.slice(0, BODY_CHARACTERS_MAX)}…` : safe
}
