import { isOfDryRun } from '../../http/dry-run.ts'
import { errorMessageIn } from '../../http/error-message.ts'
import type { ResponseHeaders } from '../../http/observer.ts'
import type { RequestTarget } from '../../http/request-id.ts'
import { documentedRoute } from '../../http/target.ts'
import { sinceStartMs, systemClock, toTimestamp } from '../../kernel/clock.ts'
import type { Failure } from '../../kernel/failure.ts'
import type { Session } from '../../sessions/sessions.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { Fault } from '../faults/faults.ts'
import { Recent } from '../recent.ts'
import { wake } from '../worlds/resting.ts'
import type { RecordedHead, RecordedRequest } from './contract.ts'
import { redactedBody, redactedHeaders, redactedPath } from './redaction.ts'
import type { RowChange } from './row-changes.ts'

const UNCHANGED: readonly RowChange[] = []

interface ObservedResponse {
  /** 0 when the connection was closed instead. */
  status: number
  headers: ResponseHeaders
  body: string | Uint8Array | undefined
}

export interface Injected {
  fault: Fault
  target: RequestTarget
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
  /** True if only `--strict` has refused the request, which does not count as a documented outcome. */
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
  /** The time of the end by the clock of the process: each world has another clock. */
  endedMs = 0
  /** While the request is in progress. */
  injected: Injected | undefined
  fault: string | null = null
  outcome: string | null = null
  changes = UNCHANGED
  /** The ids of the events that it has written. */
  readonly events: string[] = []

  constructor(readonly requestHeaders: Headers) {}
}

const REQUESTS_MAX = 1_000
export const BYTES_MAX = 4_194_304

/** The last requests of a world, the oldest first (decision 0014). */
class RequestLog {
  readonly #recent = new Recent<ObservedRequest>({ sizeOf, bytesMax: BYTES_MAX, countMax: REQUESTS_MAX })
  /** Set while the world rests: reads the stored requests. */
  #readStored: (() => readonly StoredRequest[]) | undefined
  /** The time at which the newest request ended. */
  newestMs = Number.NEGATIVE_INFINITY

  constructor(private readonly world: World) {}

  get bytes(): number {
    return this.#recent.bytes
  }

  get isResting(): boolean {
    return this.#readStored !== undefined
  }

  add(request: ObservedRequest): LoggedRequest {
    wake(this.world)
    this.#recent.add(request)
    this.newestMs = request.endedMs
    return { world: this.world, request, id: this.#recent.last, bytes: sizeOf(request) }
  }

  /** Does not wake a world at rest. */
  all(): LoggedRequest[] {
    const requests = this.#readStored ? this.#readStored().map(observedFrom) : this.#recent.items
    const first = this.#recent.last - requests.length + 1
    return requests.map((request, at) => ({ world: this.world, request, id: first + at, bytes: sizeOf(request) }))
  }

  find(id: number): Logged | undefined {
    wake(this.world)
    const request = this.#recent.at(id)
    return request && { world: this.world, request, id }
  }

  /** The requests for the file of a world at rest, without secrets. */
  stored(): StoredRequest[] {
    return this.all().map((logged) => ({
      ...recordedFrom(logged),
      changes: [...logged.request.changes],
      endedAtMs: startedAtMs() + logged.request.endedMs,
    }))
  }

  rest(read: () => readonly StoredRequest[]): void {
    this.#readStored = read
    this.#recent.forget()
  }

  resume(stored: readonly StoredRequest[]): void {
    this.#readStored = undefined
    this.#recent.restore(stored.map(observedFrom), stored.at(-1)?.id ?? this.#recent.last)
    this.newestMs = this.#recent.items.at(-1)?.endedMs ?? this.newestMs
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
    dry_run: isOfDryRun(response.headers),
    changes: changes.map(({ table, operation, key }) => ({ table, operation, key })),
    events: [...captured.events],
  }
}

/** A request in the file of a world that rests. */
export type StoredRequest = Omit<RecordedRequest, 'changes'> & { changes: RowChange[]; endedAtMs: number }

/** The start of this process by the clock of the machine: later processes order their requests with those of earlier ones. */
const startedAtMs = (): number => systemClock.nowMs() - sinceStartMs()

/** Redacted parts stay redacted. */
const observedFrom = ({ at, request, response, ...stored }: StoredRequest): ObservedRequest =>
  Object.assign(new ObservedRequest(new Headers(request.headers)), {
    atMs: Date.parse(at),
    method: stored.method,
    path: stored.path,
    route: stored.route,
    client: stored.client,
    requestBody: request.body ?? undefined,
    response: { ...response, body: response.body ?? undefined },
    durationMs: stored.duration_ms,
    endedMs: stored.endedAtMs - startedAtMs(),
    fault: stored.fault,
    outcome: stored.outcome,
    changes: stored.changes,
    events: stored.events,
  })

/** Rough overheads in bytes of a request, a header (without its value), a row change (without its key and values) and an event. */
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

export const textOf = (body: string | Uint8Array | undefined): string | undefined =>
  typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString()
