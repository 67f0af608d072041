import type { Extension } from '../../app/extension.ts'
import { listenToEvents } from '../../events/publish.ts'
import { isOfDryRun, isOfHeader } from '../../http/dry-run.ts'
import type { Incoming } from '../../http/incoming.ts'
import { targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import type { Log } from '../../observability/log.ts'
import { CREDENTIALS_WRONG } from '../../sessions/contract.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../work/world.ts'
import { DEFAULT_WORLD } from '../../work/worlds.ts'
import { isAboutSandbox, isAsset, isControl, isProbe } from '../control/access.ts'
import { unknownIn } from '../control/strict.ts'
import type { Exploration } from '../explore/exploration.ts'
import type { Injection } from '../faults/injection.ts'
import type { Parts } from '../parts.ts'
import { explainRefusal, worldNamedIn, worldOfBearer } from '../worlds/accounts.ts'
import { plainName } from '../worlds/query.ts'
import { markWritten } from '../worlds/written.ts'
import { shownPartOf } from './redaction.ts'
import { ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface ObserverOptions extends Pick<Parts, 'worlds' | 'outcomes'> {
  injection: Injection
  /** Called with each request when it is recorded. */
  listeners: ReadonlySet<RecordingListener>
  /** Is shown each write while `scrip run --explore` runs. */
  explored: () => Exploration | undefined
  log: Log
  strict: boolean
}

/** The record of a request in progress; undefined once it is closed. */
const observedIn = ({ observed }: Incoming): ObservedRequest | undefined =>
  observed instanceof ObservedRequest ? observed : undefined

/** A request that the sandbox sends in a world: the access token that would name it may be redacted. */
export class SentRequest extends Request {
  constructor(
    url: string,
    init: RequestInit,
    readonly world: World,
    /** The request that it is sent for: both come from the same address. */
    readonly cause: Request | undefined,
  ) {
    super(url, init)
  }
}

/** Observes requests, with the facts known of each so far, above all its world, and records them once they have a response. */
export class RequestObserver implements Required<Extension['observer']> {
  constructor(private readonly options: ObserverOptions) {}

  readonly arrived = (incoming: Incoming): void => {
    const { request } = incoming
    const observed = new ObservedRequest(request.headers)
    if (request instanceof SentRequest) observed.world = request.world
    incoming.observed = observed
  }

  belongs(incoming: Incoming, world: World): void {
    const observed = observedIn(incoming)
    if (observed) observed.world = world
  }

  readonly identified = (incoming: Incoming, { world }: Session): void => {
    const observed = observedIn(incoming)
    if (!observed) return
    observed.client = incoming.username
    observed.world = world
  }

  /** The world that a request is about, as far as that is known. */
  #worldOf(incoming: Incoming): World | undefined {
    return observedIn(incoming)?.world ?? worldOfBearer(this.options.worlds, incoming.request)
  }

  /** The name of the world of a request; if it is not known, the name that it asks for, or that of the default world. */
  worldNameOf(incoming: Incoming): string {
    const { url } = incoming.request
    return this.#worldOf(incoming)?.name ?? plainName(new URL(url).searchParams.get('world') ?? DEFAULT_WORLD)
  }

  readonly faultOf = (incoming: Incoming): string | undefined => observedIn(incoming)?.injected?.fault.name

  /**
   * Refuses names that an operation does not document: always in the control API, with `--strict` in the API (decision 47).
   *
   * @throws DomainError validation, body_unreadable
   */
  readonly refuseUnknown = async (incoming: Incoming): Promise<void> => {
    const { route, operation } = incoming
    const observed = observedIn(incoming)
    if (!observed || !operation || !(this.options.strict || isControl(route))) return
    const violations = await unknownIn(operation, incoming)
    if (violations.length === 0) return
    observed.refusedStrictly = true
    throw new DomainError(invalid(violations))
  }

  /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
  readonly entered = (incoming: Incoming): Promise<void> | undefined => {
    if (!incoming.operation?.public) return undefined
    const observed = observedIn(incoming)
    return observed && this.#enterPublic(observed, incoming)
  }

  async #enterPublic(observed: ObservedRequest, incoming: Incoming): Promise<void> {
    const { worlds, injection } = this.options
    observed.world ??= await worldNamedIn(worlds, incoming)
    await injection.before(observed, observed.world ?? worlds.default, incoming)
    // The control API checks it after access.
    if (!isControl(incoming.route)) await this.refuseUnknown(incoming)
  }

  /** The guard has let a request into a world. @throws DomainError the injected fault, or validation */
  readonly admitted = (incoming: Incoming, session: Session): Promise<void> | undefined => {
    const { injection, explored } = this.options
    const observed = observedIn(incoming)
    if (!observed) return undefined
    const injected = injection.before(observed, session.world, incoming, session)
    const exploration = explored()
    // Reading writes nothing.
    if (!exploration || incoming.request.method === 'GET') return injected
    return Promise.resolve(injected).then(() => injection.losing(observed, exploration, incoming, session))
  }

  /** With `--strict`, an undocumented name is refused after features (decision 47). */
  readonly entitled = (incoming: Incoming): Promise<void> | undefined =>
    this.options.strict ? this.refuseUnknown(incoming) : undefined

  /** Keeps the rows and the events that a unit of work has written, once they are committed. */
  readonly watched =
    (incoming: Incoming, world: World, write: Session['write']): Session['write'] =>
    async (work) => {
      watchRows(world)
      let written: Pick<ObservedRequest, 'changes' | 'events'> = { changes: [], events: [] }
      const value = await write((tx) => {
        const events: string[] = []
        using _ = listenToEvents(world, ({ eventId }) => events.push(eventId))
        const { value, changes } = withChanges(world, () => work(tx))
        written = { changes, events }
        return value
      })
      const observed = observedIn(incoming)
      if (observed) {
        observed.changes = [...observed.changes, ...written.changes]
        observed.events = [...observed.events, ...written.events]
      }
      if (written.changes.length > 0) markWritten(world)
      return value
    }

  readonly ended: Extension['observer']['ended'] = (incoming, { status, headers, body }, failure) => {
    const observed = observedIn(incoming)
    if (!observed) return
    if (failure) {
      observed.failure = failure
      observed.route ??= incoming.route || null
    }
    observed.response = { status, headers, body: body instanceof Uint8Array ? shownPartOf(body) : body }
    // The fault may still change the response.
    if (observed.injected) return
    if (failure === CREDENTIALS_WRONG) explainRefusal(this.options, incoming)
    this.#close(observed, incoming)
  }

  /** The response that the client gets instead. */
  readonly replace = (request: Request, response: Response): Response | Promise<Response> => {
    const { injection } = this.options
    const incoming = injection.faulty(request)
    if (!incoming) return response
    const observed = observedIn(incoming)
    if (!observed?.injected) return response
    return injection.replace(observed, observed.injected, response, () => this.#close(observed, incoming))
  }

  #close(observed: ObservedRequest, incoming: Incoming): void {
    if (isAboutSandbox(incoming.path)) return
    const world = this.#worldOf(incoming) ?? this.options.worlds.default
    incoming.observed = undefined
    this.options.explored()?.ended(incoming.request, observed.changes.length > 0)
    if (!world.closed) this.#record(world, incoming, observed)
  }

  /** Records a request in the log and the coverage of its world. */
  #record(world: World, { request, path, text }: Incoming, observed: ObservedRequest): void {
    const { outcomes, listeners } = this.options
    const { route, failure, refusedStrictly, response } = observed
    const outcome = route === null || refusedStrictly ? undefined : outcomes.outcomeOf(request.method, route, failure)
    observed.outcome = outcome?.name ?? null
    // The outcome of a dry run does not count, except for the errors of its header.
    const isMet = !isOfDryRun(response.headers) || (failure !== undefined && isOfHeader(failure))
    if (outcome && isMet) outcomes.count(world, outcome)
    if (isProbe(path) || isAsset(path)) return
    observed.atMs = world.clock.nowMs()
    observed.method = request.method
    observed.path = targetOf(request.url)
    observed.requestBody = text
    observed.endedMs = sinceStartMs()
    observed.fault = observed.injected?.fault.name ?? null
    observed.injected = undefined
    const logged = world.of(requestLog).add(observed)
    for (const listener of listeners) listener(logged)
  }
}
