import { errorMessageIn } from '../../http/error-message.ts'
import type { ResponseHeaders } from '../../http/observer.ts'
import { isRehearsed } from '../../http/rehearsal.ts'
import { documentedRoute } from '../../http/target.ts'
import { sinceStartMs, toTimestamp } from '../../kernel/clock.ts'
import type { Failure } from '../../kernel/failure.ts'
import type { Asked } from '../../sessions/guard.ts'
import type { Session } from '../../sessions/sessions.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { Fault } from '../faults/faults.ts'
import { logBudget } from '../worlds/memory.ts'
import type { RecordedHead, RecordedRequest } from './operations.ts'
import { redactedBody, redactedHeaders, redactedPath } from './redaction.ts'
import type { RowChange } from './row-changes.ts'

/** Path, headers and body of a login as clients send it. */
const STRANGER_CHARACTERS_MAX = 1_024

const UNCHANGED: readonly RowChange[] = []

interface ObservedResponse {
  /** 0 when the connection was closed instead. */
  status: number
  headers: ResponseHeaders
  body: string | Uint8Array | undefined
}

export interface Injected {
  fault: Fault
  target: Asked
  session: Session | undefined
}

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
  response: ObservedResponse = { status: 0, headers: {}, body: undefined }
  durationMs = 0
  /** By the clock of the process, as worlds have clocks of their own. */
  endedMs = 0
  /** While the request is in progress. */
  injected: Injected | undefined
  fault: string | null = null
  outcome: string | null = null
  changes = UNCHANGED
  /** The ids of the events that it has caused. */
  readonly events: string[] = []

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
export const BYTES_MAX = 4_194_304

/** The last requests of a world, the oldest first (decision 0014). */
class RequestLog {
  readonly #captured: ObservedRequest[] = []
  readonly #sizes: number[] = []
  #size = 0
  #lastId = 0

  constructor(private readonly world: World) {
    world.of(logBudget).onLimited = () => this.#trim()
  }

  add(request: ObservedRequest): LoggedRequest {
    const bytes = sizeOf(request)
    this.#lastId += 1
    this.#captured.push(request)
    this.#sizes.push(bytes)
    this.#size += bytes
    this.#trim()
    return { world: this.world, request, id: this.#lastId, bytes }
  }

  /** Continues the log of another process. */
  restore(requests: readonly RecordedRequest[]): void {
    this.#lastId = (requests[0]?.id ?? 1) - 1
    for (const recorded of requests) this.add(observedFrom(recorded))
  }

  #trim(): void {
    const budget = this.world.of(logBudget)
    const bytesMax = Math.min(BYTES_MAX, budget.bytesMax)
    while (this.#captured.length > REQUESTS_MAX || (this.#size > bytesMax && this.#captured.length > 0)) {
      this.#captured.shift()
      this.#size -= this.#sizes.shift() ?? 0
    }
    budget.bytes = this.#size
  }

  all(): LoggedRequest[] {
    return this.#captured.map((request, at) => ({
      world: this.world,
      request,
      id: this.#firstId + at,
      bytes: this.#sizes[at] ?? 0,
    }))
  }

  find(id: number): Logged | undefined {
    const request = this.#captured[id - this.#firstId]
    return request && { world: this.world, request, id }
  }

  /** Ids are consecutive, and the oldest requests go first. */
  get #firstId(): number {
    return this.#lastId - this.#captured.length + 1
  }
}

export const requestLog = worldPart((world) => new RequestLog(world))

/** A request in the log of a world. */
export interface LoggedRequest {
  world: World
  request: ObservedRequest
  id: number
  bytes: number
}

/** Called with each request when it is recorded. */
export type RecordingListener = (recorded: LoggedRequest) => void

export type Logged = Pick<LoggedRequest, 'world' | 'request' | 'id'>

/** Without secrets. */
export const recordedFrom = (logged: Logged): RecordedRequest => {
  const { requestBody, response } = logged.request
  const recorded = headOf(logged)
  return {
    ...recorded,
    request: { ...recorded.request, body: redactedBody(requestBody) },
    response: { ...recorded.response, body: redactedBody(textOf(response.body)) },
  }
}

/** Without secrets and without bodies. */
export const headOf = ({ world, request: captured, id }: Logged): RecordedHead => {
  const { atMs, method, path, route, client, response, durationMs, fault, outcome, changes } = captured
  const responseHeaders = redactedHeaders(response.headers)
  return {
    id,
    world: world.name,
    request_id: responseHeaders['x-request-id'] ?? '',
    at: toTimestamp(atMs),
    method,
    path: redactedPath(path),
    route: route && documentedRoute(route),
    client,
    request: { headers: redactedHeaders(captured.requestHeaders) },
    response: { status: response.status, headers: responseHeaders },
    duration_ms: Math.round(durationMs * 1_000) / 1_000,
    fault,
    outcome,
    message: response.status < 400 ? null : errorMessageIn(textOf(response.body)),
    dry_run: isRehearsed(response.headers),
    changes: changes.map(({ table, operation, key }) => ({ table, operation, key })),
    events: [...captured.events],
  }
}

/** Redacted parts stay redacted. */
const observedFrom = ({ at, request, response, ...recorded }: RecordedRequest): ObservedRequest =>
  Object.assign(new ObservedRequest(new Headers(request.headers)), {
    atMs: Date.parse(at),
    method: recorded.method,
    path: recorded.path,
    route: recorded.route,
    client: recorded.client,
    requestBody: request.body ?? undefined,
    response: { ...response, body: response.body ?? undefined },
    durationMs: recorded.duration_ms,
    fault: recorded.fault,
    outcome: recorded.outcome,
    changes: recorded.changes,
    events: recorded.events,
  })

/** Rough overheads in bytes: of a request, of a header besides its value, of a row change besides its key and values, of an event. */
const REQUEST_BYTES = 2_048
const HEADER_BYTES = 64
const CHANGE_BYTES = 64
const EVENT_BYTES = 48

const sizeOf = ({ path, requestHeaders, requestBody, response, changes, events }: ObservedRequest): number => {
  let size = REQUEST_BYTES + path.length + byteCountOf(requestBody) + byteCountOf(response.body)
  size += EVENT_BYTES * events.length
  // Responses have few headers, and short ones.
  requestHeaders.forEach((value) => {
    size += HEADER_BYTES + value.length
  })
  for (const { key, values } of changes) {
    size += CHANGE_BYTES + key.length
    if (values) size += (values.before?.length ?? 0) + (values.after?.length ?? 0)
  }
  return size
}

const byteCountOf = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0)

const textOf = (body: string | Uint8Array | undefined): string | undefined =>
  typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString()
