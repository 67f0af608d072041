import type { ResponseHeaders } from '../../http/observer.ts'
import { documentedRoute } from '../../http/target.ts'
import { sinceStartMs, toTimestamp } from '../../kernel/clock.ts'
import type { Failure } from '../../kernel/failure.ts'
import { turns } from '../../kernel/turns.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { RecordedRequest } from './operations.ts'
import { redactedBody, redactedHeaders, redactedPath } from './redaction.ts'
import type { RowChange } from './row-changes.ts'

/** Path, headers and body of a login as clients send it. */
const STRANGER_CHARACTERS_MAX = 1_024

const UNCHANGED: readonly RowChange[] = []

/**
 * A request and its response as sent, secrets included. It stays in memory and is redacted when the log is read:
 * most are never read, and redacting one costs more than answering most requests.
 */
export class ObservedRequest {
  readonly startedMs = sinceStartMs()
  world: World | undefined
  failure: Failure | undefined
  /** Refused for what only `--strict` refuses: no documented outcome. */
  refusedStrictly = false
  atMs = 0
  method = ''
  /** Path and query. */
  path = ''
  route: string | null = null
  client: string | null = null
  requestBody: string | undefined
  status = 0
  responseHeaders: ResponseHeaders = {}
  responseBody: string | Uint8Array | undefined
  durationMs = 0
  fault: string | null = null
  outcome: string | null = null
  changes = UNCHANGED

  constructor(public requestHeaders: Headers) {}

  /** Cuts a long request of a stranger: it takes room in a world that is not the stranger's. */
  cut(): void {
    let size = this.path.length + (this.requestBody?.length ?? 0)
    this.requestHeaders.forEach((value, name) => {
      size += name.length + value.length
    })
    if (size <= STRANGER_CHARACTERS_MAX) return
    this.path = this.path.replace(/\?.*/s, '').slice(0, STRANGER_CHARACTERS_MAX)
    this.requestHeaders = new Headers()
    this.requestBody = undefined
  }
}

const REQUESTS_MAX = 1_000
const BYTES_MAX = 4_194_304

/** The last requests of a world, the oldest first (decision 0014). */
class RequestLog {
  readonly #captured: ObservedRequest[] = []
  readonly #sizes: number[] = []
  #size = 0
  #lastId = 0

  constructor(private readonly world: World) {
    world.onLimited(() => this.#trim())
  }

  add(request: ObservedRequest): void {
    const size = sizeOf(request)
    this.#lastId += 1
    this.#captured.push(request)
    this.#sizes.push(size)
    this.#size += size
    this.#trim()
  }

  #trim(): void {
    const bytesMax = Math.min(BYTES_MAX, this.world.keptBytesMax)
    while (this.#captured.length > REQUESTS_MAX || (this.#size > bytesMax && this.#captured.length > 0)) {
      this.#captured.shift()
      this.#size -= this.#sizes.shift() ?? 0
    }
    this.world.keptBytes = this.#size
  }

  /** All requests, redacted in slices: a few megabytes take longer than other requests should wait. */
  async all(): Promise<RecordedRequest[]> {
    const captured = [...this.#captured]
    const firstId = this.#firstId
    const recorded: RecordedRequest[] = []
    while (recorded.length < captured.length) {
      await turns.take(this.world, (isOver) => {
        do {
          const request = captured[recorded.length]
          if (request) recorded.push(redacted(request, firstId + recorded.length))
        } while (recorded.length < captured.length && !isOver())
      })
    }
    return recorded
  }

  find(id: number): RecordedRequest | undefined {
    const request = this.#captured[id - this.#firstId]
    return request && redacted(request, id)
  }

  /** Ids are consecutive, and the oldest requests go first. */
  get #firstId(): number {
    return this.#lastId - this.#captured.length + 1
  }
}

export const requestLog = worldPart((world) => new RequestLog(world))

const redacted = (captured: ObservedRequest, id: number): RecordedRequest => {
  const { atMs, method, path, route, client, status, durationMs, fault, outcome, changes } = captured
  const responseHeaders = redactedHeaders(captured.responseHeaders)
  return {
    id,
    request_id: responseHeaders['x-request-id'] ?? '',
    at: toTimestamp(atMs),
    method,
    path: redactedPath(path),
    route: route && documentedRoute(route),
    client,
    request: { headers: redactedHeaders(captured.requestHeaders), body: redactedBody(captured.requestBody) },
    response: { status, headers: responseHeaders, body: redactedBody(textOf(captured.responseBody)) },
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    fault,
    outcome,
    changes: [...changes],
  }
}

/** Rough overheads in bytes: of a request, of a header besides its value, of a row change besides its key. */
const REQUEST_BYTES = 2_048
const HEADER_BYTES = 64
const CHANGE_BYTES = 64

const sizeOf = ({ path, requestHeaders, requestBody, responseBody, changes }: ObservedRequest): number => {
  let size = REQUEST_BYTES + path.length + byteCountOf(requestBody) + byteCountOf(responseBody)
  // Responses have few headers, and short ones.
  requestHeaders.forEach((value) => {
    size += HEADER_BYTES + value.length
  })
  for (const { key } of changes) size += CHANGE_BYTES + key.length
  return size
}

const byteCountOf = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0)

const textOf = (body: string | Uint8Array | undefined): string | undefined =>
  typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString()
