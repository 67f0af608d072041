import { sentBody } from '../../http/body.ts'
import { targetOf } from '../../http/target.ts'
import type { AnswerHeaders, Witness } from '../../http/witness.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import { DomainError, type Failure } from '../../kernel/failure.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { unknownIn } from '../control/strict.ts'
import { type Faulted, type Strike, strike, strikeFor } from '../faults/faults.ts'
import { isSpared } from '../faults/spared.ts'
import type { Coverage } from './coverage.ts'
import type { Catalogue } from './outcomes.ts'
import { type Exchange, journal, worthKeeping } from './request-log.ts'
import { type RowChange, watchRows, withChanges } from './row-changes.ts'

/**
 * What is known of a request while it is under way, and what the journal keeps of it: one and the same, because there
 * is one for every request.
 */
class Draft implements Exchange {
  readonly startedMs = sinceStartMs()
  world: World | undefined
  failure: Failure | undefined
  /** Refused for what only `--strict` refuses: no documented outcome. */
  refusedStrictly = false
  atMs = 0
  method = ''
  path = ''
  route: string | null = null
  client: string | null = null
  requestBody: string | undefined
  status = 0
  responseHeaders: AnswerHeaders = {}
  responseBody: string | Uint8Array | undefined
  durationMs = 0
  fault: string | null = null
  outcome: string | null = null
  changes: readonly RowChange[] = UNCHANGED

  constructor(public requestHeaders: Headers) {}

  /** Keeps of what a stranger has sent no more than of a short request: it stands in a world that is not the stranger's. */
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

/** Path, headers and body of a login as clients send it. */
const STRANGER_CHARACTERS_MAX = 1_024

const UNCHANGED: readonly RowChange[] = []

/** The control surface, which refuses for itself what it does not know, and which no fault strikes. */
const CONTROL_PATH = '/_sandbox'
/**
 * Requests that are about the sandbox, the front page among them, are of no client and not journaled, and those of
 * supervisors neither. A path, with or without its query.
 */
const isAboutSandbox = (path: string): boolean => path.startsWith(CONTROL_PATH) || /^\/(?:\?|$)/.test(path)
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
      /** The world that a request was of, whose access token was refused. */
      worldMissed: (request: Request) => World | undefined
      /** The currencies that a purchase converts between. */
      currenciesOf: (faulted: Faulted, session: Session) => Promise<{ from: string; to: string } | undefined>
      /** Whether what the API would ignore is refused. */
      strict: boolean
    },
  ) {}

  arrived = (request: Request): void => {
    this.#drafts.set(request, new Draft(request.headers))
  }

  /** A request was let into a world: faults strike, and what it writes will be noted. */
  admitted = (faulted: Faulted, session: Session): Session | Promise<Session> => {
    const draft = this.#drafts.get(faulted.request)
    if (!draft) return session
    draft.client = session.client.username
    draft.world = session.world
    // Reading writes nothing.
    const watched = faulted.request.method === 'GET' ? session : watchedBy(draft, session)
    const struck = this.#strike(draft, session.world, faulted, session)
    return struck ? struck.then(() => watched) : watched
  }

  /**
   * A route is about to answer. A public one has not been struck yet: whose world it is about stands in what was sent,
   * or it is the default one.
   *
   * @throws DomainError what a fault has in store, or validation
   */
  entered = async ({ request, path, route }: Faulted): Promise<void> => {
    const draft = this.#drafts.get(request)
    if (!draft) return
    const faulted = { request, path, route }
    if (draft.route === null) {
      draft.world = await this.options.worldMeant(faulted)
      await this.#strike(draft, draft.world ?? this.options.defaultWorld(), faulted)
    }
    if (this.options.strict && !route.startsWith(CONTROL_PATH)) await this.refuseUnknown(faulted)
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

  /** What a fault does to a request, if one strikes. @throws DomainError validation */
  #strike(draft: Draft, world: World, faulted: Faulted, session?: Session): Promise<void> | undefined {
    draft.route = faulted.route || null
    if (isSpared(faulted.route)) return undefined
    const found = strikeFor(this.options.catalogue(), world, faulted)
    if (!found) return undefined
    draft.fault = found.name
    return this.#withCurrencies(found, faulted, session).then(strike)
  }

  /** A missing rate names the currencies of the request, where it says them. */
  async #withCurrencies(found: Strike, faulted: Faulted, session: Session | undefined): Promise<Strike> {
    const failure = found.error?.failure
    if (failure?.code !== 'rate_missing' || !session) return found
    const currencies = await this.options.currenciesOf(faulted, session)
    return { ...found, error: new DomainError({ ...failure, ...currencies }) }
  }

  refused: Witness['refused'] = (request, route, failure, { status, headers, body }) => {
    const draft = this.#drafts.get(request)
    if (draft) {
      draft.failure = failure
      draft.route ??= route || null
    }
    this.#close(request, status, headers, body)
  }

  answered: Witness['answered'] = (request, status, headers, body) => {
    this.#close(request, status, headers, body instanceof Uint8Array ? worthKeeping(body) : body)
  }

  #close(request: Request, status: number, headers: AnswerHeaders, body: string | Uint8Array | undefined): void {
    const draft = this.#drafts.get(request)
    const path = targetOf(request.url)
    if (!draft || isAboutSandbox(path)) return
    this.#drafts.delete(request)
    const world = draft.world ?? this.options.worldMissed(request) ?? this.options.defaultWorld()
    if (world.closed) return
    const { route, failure } = draft
    const { method } = request
    const outcome =
      route === null || draft.refusedStrictly ? undefined : this.options.catalogue().outcomeOf(method, route, failure)
    if (outcome) this.options.coverage.count(world, outcome)
    if (PROBE_PATHS.includes(path)) return
    draft.atMs = world.clock.nowMs()
    draft.method = method
    draft.path = path
    draft.requestBody = sentBody(request)
    draft.status = status
    draft.responseHeaders = headers
    draft.responseBody = body
    draft.durationMs = sinceStartMs() - draft.startedMs
    draft.outcome = outcome?.name ?? null
    if (failure && draft.client === null) draft.cut()
    world.of(journal).add(draft)
  }
}

/** A session whose writes are noted in the draft. */
const watchedBy = (draft: Draft, session: Session): Session => ({
  ...session,
  write: (work) => {
    watchRows(session.world)
    return session.write((tx) => {
      const { value, changes } = withChanges(session.world, () => work(tx))
      draft.changes = [...draft.changes, ...changes]
      return value
    })
  },
})
