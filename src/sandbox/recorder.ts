import { sentBody } from '../http/body.ts'
import type { Witness } from '../http/witness.ts'
import { sinceStartMs, toTimestamp } from '../kernel/clock.ts'
import { DomainError, type Failure } from '../kernel/failure.ts'
import type { Session } from '../sessions/sessions.ts'
import type { World } from '../worlds/world.ts'
import type { Catalogue } from './catalogue.ts'
import { type RowChange, watchRows, withChanges } from './changes.ts'
import type { Coverage } from './coverage.ts'
import { type Faulted, strike, strikeFor } from './faults.ts'
import { journal, redactedBody, redactedHeaders, redactedPath } from './journal.ts'
import { unknownIn } from './strict.ts'

/** What is known of a request while it is under way. */
interface Draft {
  startedMs: number
  world: World | undefined
  route: string | null
  client: string | null
  fault: string | null
  failure: Failure | undefined
  /** Refused for what only `--strict` refuses: no documented outcome. */
  refusedStrictly: boolean
  changes: RowChange[]
}

/** Requests that are about the sandbox, not of a client, are not journaled, and those of supervisors neither. */
const CONTROL_PATH = '/_sandbox'
const PROBE_PATHS = ['/livez', '/readyz']

/**
 * What the sandbox does besides answering: it lets faults strike, and keeps a journal and the coverage of what it was
 * asked. Live mode has none of it.
 */
export class Recorder implements Witness {
  readonly #drafts = new WeakMap<Request, Draft>()

  constructor(
    private readonly options: {
      catalogue: () => Catalogue
      coverage: Coverage
      /** Where a request belongs that names no world. */
      defaultWorld: () => World
      /** The world that a request without an access token speaks of. */
      worldMeant: (faulted: Faulted) => Promise<World | undefined>
      /** Whether what the API would ignore is refused. */
      strict: boolean
    },
  ) {}

  arrived = (request: Request): void => {
    this.#drafts.set(request, {
      startedMs: sinceStartMs(),
      world: undefined,
      route: null,
      client: null,
      fault: null,
      failure: undefined,
      refusedStrictly: false,
      changes: [],
    })
  }

  /** A request was let into a world: faults strike, and what it writes will be noted. */
  admitted = async (faulted: Faulted, session: Session): Promise<Session> => {
    const draft = this.#drafts.get(faulted.request)
    if (!draft) return session
    draft.client = session.client.username
    draft.world = session.world
    await this.#strike(draft, session.world, faulted)
    return {
      ...session,
      write: (work) => {
        watchRows(session.world)
        return session.write((tx) => {
          const { value, changes } = withChanges(session.world, () => work(tx))
          draft.changes.push(...changes)
          return value
        })
      },
    }
  }

  /**
   * A route is about to answer. A public one has not been struck yet: whose world it is about stands in what was sent,
   * or it is the default one.
   *
   * @throws DomainError what a fault has in store, or validation
   */
  entered = async (faulted: Faulted): Promise<void> => {
    const draft = this.#drafts.get(faulted.request)
    if (!draft) return
    if (draft.route === null) {
      draft.world = await this.options.worldMeant(faulted)
      await this.#strike(draft, draft.world ?? this.options.defaultWorld(), faulted)
    }
    if (!faulted.route.startsWith(CONTROL_PATH)) await this.refuseUnknown(faulted)
  }

  /** With `--strict`, refuses what the operation does not document. @throws DomainError validation */
  refuseUnknown = async ({ request, route }: Faulted): Promise<void> => {
    const draft = this.#drafts.get(request)
    const operation = this.options.strict && this.options.catalogue().operationAt(request.method, route)
    if (!draft || !operation) return
    const violations = await unknownIn(operation, request)
    if (violations.length === 0) return
    draft.refusedStrictly = true
    throw new DomainError({ code: 'validation', violations })
  }

  /** A login has found its world. */
  belongs = (request: Request, world: World): void => {
    const draft = this.#drafts.get(request)
    if (draft) draft.world = world
  }

  async #strike(draft: Draft, world: World, faulted: Faulted): Promise<void> {
    draft.route = faulted.route || null
    if (faulted.route.startsWith(CONTROL_PATH)) return
    const found = strikeFor(this.options.catalogue(), world, faulted)
    if (found) {
      draft.fault = found.name
      await strike(found)
    }
  }

  refused: Witness['refused'] = (request, route, failure, { status, headers, body }) => {
    const draft = this.#drafts.get(request)
    if (draft) {
      draft.failure = failure
      draft.route ??= route || null
    }
    this.#close(request, status, headers, JSON.stringify(body))
  }

  answered: Witness['answered'] = (request, status, headers, value) => {
    const body = value === undefined || value instanceof Response ? undefined : toText(value)
    this.#close(request, status, headers, body)
  }

  #close(request: Request, status: number, headers: Record<string, unknown>, body: string | undefined): void {
    const draft = this.#drafts.get(request)
    const path = redactedPath(pathOf(request.url))
    if (!draft || path.startsWith(CONTROL_PATH)) return
    this.#drafts.delete(request)
    const world = draft.world ?? this.options.defaultWorld()
    if (world.closed) return
    const outcome =
      draft.route === null || draft.refusedStrictly
        ? undefined
        : this.options.catalogue().outcomeOf(request.method, draft.route, status, draft.failure)
    if (outcome) this.options.coverage.count(world, outcome)
    if (PROBE_PATHS.includes(path)) return
    const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
    world.of(journal).add({
      requestId: sent['x-request-id'] ?? '',
      at: toTimestamp(world.clock.nowMs()),
      method: request.method,
      path,
      route: draft.route,
      client: draft.client,
      request: { headers: redactedHeaders(request.headers), body: redactedBody(sentBody(request)) },
      response: { status, headers: redactedHeaders(Object.entries(sent)), body: redactedBody(body) },
      durationMs: Math.round((sinceStartMs() - draft.startedMs) * 1_000) / 1_000,
      fault: draft.fault,
      outcome: outcome?.name ?? null,
      changes: draft.changes,
    })
  }
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Path and query, of whatever host. */
const pathOf = (url: string): string => url.slice(url.indexOf('/', url.indexOf('//') + 2))
