import type { ResponseHeaders } from '../../http/observer.ts'
import { documentedRoute } from '../../http/target.ts'
import { toTimestamp } from '../../kernel/clock.ts'
import { turns } from '../../kernel/turns.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { RecordedRequest } from './model.ts'
import { redactedBody, redactedHeaders, redactedPath } from './redaction.ts'
import type { RowChange } from './row-changes.ts'

/**
 * A request and its response as sent, secrets included. It stays in memory and is redacted when the log is read:
 * most are never read, and redacting one costs more than answering most requests.
 */
export interface UnredactedRequest {
  readonly atMs: number
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly route: string | null
  readonly client: string | null
  readonly requestHeaders: Headers
  readonly requestBody: string | undefined
  readonly status: number
  readonly responseHeaders: ResponseHeaders
  readonly responseBody: string | Uint8Array | undefined
  readonly durationMs: number
  readonly fault: string | null
  readonly outcome: string | null
  readonly changes: readonly RowChange[]
}

/** The bounds of a log: requests, and bytes of paths, headers, bodies and rows. */
const REQUESTS_MAX = 1_000
const BYTES_MAX = 4_194_304

/** The last requests of a world, the oldest first (decision 0014). */
class RequestLog {
  readonly #captured: UnredactedRequest[] = []
  readonly #sizes: number[] = []
  #size = 0
  #lastId = 0

  constructor(private readonly world: World) {
    world.onLimited(() => this.#trim())
  }

  add(request: UnredactedRequest): void {
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

const redacted = (captured: UnredactedRequest, id: number): RecordedRequest => {
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

const sizeOf = ({ path, requestHeaders, requestBody, responseBody, changes }: UnredactedRequest): number => {
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
