import { type Static, Type } from '@sinclair/typebox'
import { isOfDryRun } from '../../http/dry-run.ts'
import { errorMessageIn } from '../../http/error-message.ts'
import type { Incoming } from '../../http/incoming.ts'
import type { ResponseHeaders } from '../../http/observer.ts'
import { documentedRoute } from '../../http/target.ts'
import { sinceStartMs, systemClock, toTimestamp } from '../../kernel/clock.ts'
import type { Failure } from '../../kernel/failure.ts'
import type { Session } from '../../sessions/sessions.ts'
import { type World, worldPart } from '../../work/world.ts'
import type { Fault } from '../faults/faults.ts'
import { Recent } from '../recent.ts'
import { wake } from '../worlds/resting.ts'
import { type RecordedHead, RecordedRequest } from './contract.ts'
import { redactedBody, redactedHeaders, redactedPath } from './redaction.ts'
import type { RowChange } from './row-changes.ts'

const UNCHANGED: readonly RowChange[] = []

interface ObservedResponse {
  /** 0 when the connection was closed instead. */
  status: number
  headers: ResponseHeaders
  body: string | Uint8Array | undefined
}

interface Resent {
  of: number
  afterMs: number
}

/** A write whose response did not arrive whole. */
interface LostWrite {
  id: number
  /** Client, method, path and body in one text. */
  likeness: string
  endedMs: number
}

/** A client that repeats by itself does so at once; code waits a little. */
const RESENT_MS_MAX = 2_000
const IS_WRITE: Readonly<Record<string, true>> = { POST: true, PUT: true, PATCH: true, DELETE: true }
/** A cut response, and the page of a gateway. */
const NOT_WHOLE = /^(?:cut_after_bytes|50[234])(?:;|$)/
const FAILED = 500

const isLost = ({ response: { status }, fault }: ObservedRequest): boolean =>
  status === 0 || status === FAILED || (fault !== null && NOT_WHOLE.test(fault))

const likenessOf = ({ client, method, path, requestBody }: ObservedRequest): string =>
  JSON.stringify([client, method, path, requestBody])

export interface Injected {
  fault: Fault
  incoming: Incoming
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
  /** By the clock of the process. */
  endedMs = 0
  /** While the request is in progress. */
  injected: Injected | undefined
  fault: string | null = null
  outcome: string | null = null
  changes = UNCHANGED
  /** The write that it repeats, if its response did not arrive whole. */
  resent: Resent | undefined
  /** The ids of the events that it has written. */
  events: readonly string[] = []

  constructor(readonly requestHeaders: Headers) {}
}

const REQUESTS_MAX = 1_000
export const BYTES_MAX = 4_194_304

/** A request in the log of a world. */
export interface LoggedRequest {
  world: World
  id: number
  method: string
  status: number
  /** Undefined for a success, and for a request of an earlier process. */
  failureCode?: string | undefined
  /** By the clock of the process: each world has another clock. */
  endedMs: number
  bytes: number
  changes: readonly RowChange[]
  /** Undefined for a request of an earlier process. */
  resent?: Resent | undefined
  /** Makes the form without secrets. */
  read: () => RecordedRequest
}

/** Called with each request when it is recorded. */
export type RecordingListener = (recorded: LoggedRequest) => void

/** A request in the file of a world that rests, without secrets. */
export type StoredRequest = Static<typeof StoredRequest>
export const StoredRequest = Type.Object({
  recorded: RecordedRequest,
  changes: Type.Array(Type.Unsafe<RowChange>(Type.Object({ table: Type.String(), key: Type.String() }))),
  endedAtMs: Type.Number(),
  bytes: Type.Number(),
})

/** A move of the clock of a world, as a request would repeat it. */
export type ClockMove = Static<typeof ClockMove>
export const ClockMove = Type.Object({
  /** The id of the last request before it. */
  after: Type.Integer(),
  body: Type.Object({
    now: Type.Optional(Type.String()),
    advance: Type.Optional(Type.String()),
    frozen: Type.Optional(Type.Boolean()),
  }),
})

/** More than a scenario has steps. */
const MOVES_MAX = 1_001

/** The last requests of a world, the oldest first (decision 0014). */
class RequestLog {
  readonly #recent = new Recent<LoggedRequest>({
    sizeOf: ({ bytes }) => bytes,
    bytesMax: BYTES_MAX,
    countMax: REQUESTS_MAX,
  })
  /** Set while the world rests: reads the stored requests. */
  #readStored: (() => readonly StoredRequest[]) | undefined
  /** The time at which the newest request ended. */
  newestMs = Number.NEGATIVE_INFINITY

  /** True if the world was fresh when the log began. */
  beginsFresh = false
  #moves: ClockMove[] = []

  constructor(private readonly world: World) {}

  get moves(): readonly ClockMove[] {
    return this.#moves
  }

  addMove(body: ClockMove['body']): void {
    wake(this.world)
    this.#moves.push({ after: this.#recent.last, body })
    if (this.#moves.length > MOVES_MAX) this.#moves.shift()
  }

  /** The reason why the log does not have everything since the world began; undefined if it has. */
  get missingBeginning(): string | undefined {
    wake(this.world)
    const { first } = this.#recent
    if (first > 1) return `the log of this world begins with request ${first}: it has dropped the earlier ones`
    return this.beginsFresh
      ? undefined
      : 'this world did not begin fresh: what was there before request 1 is not in its log'
  }

  /** Continues with what an earlier process has kept. */
  restoreBeginning({ beginsFresh, moves }: { beginsFresh: boolean; moves: readonly ClockMove[] }): void {
    this.beginsFresh = beginsFresh
    this.#moves = [...moves]
  }

  get bytes(): number {
    return this.#recent.bytes
  }

  get isResting(): boolean {
    return this.#readStored !== undefined
  }

  add(request: ObservedRequest): LoggedRequest {
    const { world } = this
    wake(world)
    const { failure, response, endedMs, changes } = request
    const id = this.#recent.last + 1
    if (IS_WRITE[request.method]) this.#compare(request, id)
    const logged: LoggedRequest = {
      world,
      id,
      method: request.method,
      status: response.status,
      failureCode: failure?.code,
      endedMs,
      bytes: sizeOf(request),
      changes,
      resent: request.resent,
      read: () => recordedFrom(request, world, id),
    }
    this.#recent.add(logged)
    this.newestMs = endedMs
    return logged
  }

  readonly #lost: LostWrite[] = []

  /** Finds the write that a write repeats, and keeps it for the next if its response is lost. */
  #compare(request: ObservedRequest, id: number): void {
    const isRecent = ({ endedMs }: LostWrite): boolean => request.startedMs - endedMs <= RESENT_MS_MAX
    while (this.#lost[0] && !isRecent(this.#lost[0])) this.#lost.shift()
    const isLostToo = isLost(request)
    if (this.#lost.length === 0 && !isLostToo) return
    const likeness = likenessOf(request)
    const earlier = request.requestHeaders.has('idempotency-key')
      ? undefined
      : this.#lost.findLast((lost) => lost.likeness === likeness && lost.endedMs <= request.startedMs)
    if (earlier) request.resent = { of: earlier.id, afterMs: request.startedMs - earlier.endedMs }
    if (isLostToo) this.#lost.push({ id, likeness, endedMs: request.endedMs })
  }

  /** Does not wake a world at rest. */
  all(): readonly LoggedRequest[] {
    return this.#readStored ? this.#readStored().map(this.#loggedFrom) : this.#recent.items
  }

  find(id: number): LoggedRequest | undefined {
    wake(this.world)
    return this.#recent.at(id)
  }

  /** The requests for the file of a world at rest. */
  stored(): StoredRequest[] {
    return this.all().map(({ read, changes, bytes, endedMs }) => ({
      recorded: read(),
      changes: [...changes],
      bytes,
      endedAtMs: startedAtMs() + endedMs,
    }))
  }

  rest(read: () => readonly StoredRequest[]): void {
    this.#readStored = read
    this.#recent.forget()
  }

  resume(stored: readonly StoredRequest[]): void {
    this.#readStored = undefined
    this.#recent.restore(stored.map(this.#loggedFrom), stored.at(-1)?.recorded.id ?? this.#recent.last)
    this.newestMs = this.#recent.items.at(-1)?.endedMs ?? this.newestMs
  }

  readonly #loggedFrom = ({ recorded, changes, bytes, endedAtMs }: StoredRequest): LoggedRequest => ({
    world: this.world,
    id: recorded.id,
    method: recorded.method,
    status: recorded.response.status,
    endedMs: endedAtMs - startedAtMs(),
    bytes,
    changes,
    read: () => recorded,
  })
}

export const requestLog = worldPart((world) => new RequestLog(world))

const recordedFrom = (observed: ObservedRequest, world: World, id: number): RecordedRequest => {
  const { atMs, method, path, route, client, response, fault, outcome, changes, events, resent } = observed
  const responseHeaders = redactedHeaders(response.headers)
  const text = textOf(response.body)
  return {
    id,
    world: world.name,
    request_id: responseHeaders['x-request-id'] ?? '',
    at: toTimestamp(atMs),
    method,
    path: redactedPath(path),
    route: route && documentedRoute(route),
    client,
    request: { headers: redactedHeaders(observed.requestHeaders), body: redactedBody(observed.requestBody) },
    response: { status: response.status, headers: responseHeaders, body: redactedBody(text) },
    duration_ms: Math.round((observed.endedMs - observed.startedMs) * 1_000) / 1_000,
    fault,
    outcome,
    message: response.status < 400 ? null : errorMessageIn(text),
    resent: resent !== undefined,
    resent_of: resent?.of ?? null,
    resent_after_ms: resent ? Math.round(resent.afterMs * 1_000) / 1_000 : null,
    dry_run: isOfDryRun(response.headers),
    changes: changes.map(({ table, operation, key }) => ({ table, operation, key })),
    events: [...events],
  }
}

export const headOf = ({ read }: LoggedRequest): RecordedHead => {
  const { request, response, ...head } = read()
  const { status, headers } = response
  return { ...head, request: { headers: request.headers }, response: { status, headers } }
}

/** The start of this process by the clock of the machine: later processes order their requests with those of earlier ones. */
const startedAtMs = (): number => systemClock.nowMs() - sinceStartMs()

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
    size += CHANGE_BYTES + key.length + (values.before?.length ?? 0) + (values.after?.length ?? 0)
  }
  return size
}

const byteCountOf = (body: string | Uint8Array | undefined): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : (body?.byteLength ?? 0)

const textOf = (body: string | Uint8Array | undefined): string | undefined =>
  typeof body === 'string' || body === undefined ? body : Buffer.from(body).toString()
