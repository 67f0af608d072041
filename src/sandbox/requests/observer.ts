import type { Extension } from '../../app/extension.ts'
import { listenToEvents } from '../../events/publish.ts'
import { sentBody } from '../../http/body.ts'
import { isOfDryRun, isOfHeader } from '../../http/dry-run.ts'
import type { RequestTarget } from '../../http/request-id.ts'
import { pathOf, targetOf } from '../../http/target.ts'
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
import { explainRefusal, usernameIn, worldNamedIn, worldOfBearer } from '../worlds/accounts.ts'
import { plainName } from '../worlds/query.ts'
import { markWritten } from '../worlds/written.ts'
import { shownPartOf } from './redaction.ts'
import { ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface Concerns extends Pick<Parts, 'worlds' | 'outcomes'> {
  injection: Injection
  /** Called with each request when it is recorded. */
  listeners: ReadonlySet<RecordingListener>
  /** Is shown each write while `scrip run --explore` runs. */
  explored: () => Exploration | undefined
  log: Log
  strict: boolean
}

/** Observes requests, with the facts known of each so far, above all its world, and records them once they have a response. */
export class RequestObserver implements Required<Extension['observer']> {
  /** The requests in progress. */
  readonly #observed = new WeakMap<Request, ObservedRequest>()

  constructor(private readonly concerns: Concerns) {}

  readonly arrived = (request: Request): void => {
    if (!this.#observed.has(request)) this.#observed.set(request, new ObservedRequest(request.headers))
  }

  /** Names the world of a replayed request: the access token that would name it is redacted. */
  expect(request: Request, world: World): void {
    this.arrived(request)
    this.belongs(request, world)
  }

  belongs(request: Request, world: World): void {
    const observed = this.#observed.get(request)
    if (observed) observed.world = world
  }

  readonly identified = (request: Request, { client, world }: Pick<Session, 'client' | 'world'>): void => {
    const observed = this.#observed.get(request)
    if (!observed) return
    observed.client = usernameIn(world, client.username)
    observed.world = world
  }

  /** The world that a request is about, as far as that is known. */
  #worldOf(request: Request): World | undefined {
    return this.#observed.get(request)?.world ?? worldOfBearer(this.concerns.worlds, request)
  }

  /** The name of the world of a request; if it is not known, the name that it asks for, or that of the default world. */
  worldNameOf(request: Request): string {
    return this.#worldOf(request)?.name ?? plainName(new URL(request.url).searchParams.get('world') ?? DEFAULT_WORLD)
  }

  readonly faultOf = (request: Request): string | undefined => this.#observed.get(request)?.injected?.fault.name

  /**
   * Refuses names that an operation does not document: always in the control API, with `--strict` in the API (decision 47).
   *
   * @throws DomainError validation, body_unreadable
   */
  readonly refuseUnknown = async ({ request, route, operation }: RequestTarget): Promise<void> => {
    const observed = this.#observed.get(request)
    if (!observed || !operation || !(this.concerns.strict || isControl(route))) return
    const violations = await unknownIn(operation, request)
    if (violations.length === 0) return
    observed.refusedStrictly = true
    throw new DomainError(invalid(violations))
  }

  /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
  readonly entered = (target: RequestTarget): Promise<void> | undefined => {
    if (!target.operation?.public) return undefined
    const observed = this.#observed.get(target.request)
    return observed && this.#enterPublic(observed, target)
  }

  async #enterPublic(observed: ObservedRequest, target: RequestTarget): Promise<void> {
    const { worlds, injection } = this.concerns
    const { request, route } = target
    observed.world ??= await worldNamedIn(worlds, request, route)
    await injection.before(observed, observed.world ?? worlds.default, target)
    // The control API checks it after access.
    if (!isControl(route)) await this.refuseUnknown(target)
  }

  /** The guard has let a request into a world. @throws DomainError the injected fault, or validation */
  readonly admitted = (target: RequestTarget, session: Session): Session | Promise<Session> => {
    const { injection, explored } = this.concerns
    const observed = this.#observed.get(target.request)
    if (!observed) return session
    const injected = injection.before(observed, session.world, target, session)
    // Reading writes nothing.
    if (target.request.method === 'GET') return injected ? injected.then(() => session) : session
    const writing = watchedSession(observed, session)
    const exploration = explored()
    if (!injected && !exploration) return writing
    return Promise.resolve(injected)
      .then(() => exploration && injection.losing(observed, exploration, target, writing))
      .then(() => writing)
  }

  /** With `--strict`, an undocumented name is refused after features (decision 47). */
  readonly entitled = (target: RequestTarget): Promise<void> | undefined =>
    this.concerns.strict ? this.refuseUnknown(target) : undefined

  readonly ended: Extension['observer']['ended'] = ({ request, route }, { status, headers, body }, failure) => {
    const observed = this.#observed.get(request)
    if (!observed) return
    if (failure) {
      observed.failure = failure
      observed.route ??= route || null
    }
    observed.response = { status, headers, body: body instanceof Uint8Array ? shownPartOf(body) : body }
    // The fault may still change the response.
    if (observed.injected) return
    if (failure === CREDENTIALS_WRONG) explainRefusal(this.concerns, request)
    this.#close(observed, request)
  }

  /** The response that the client gets instead. */
  readonly deliver = (request: Request, response: Response): Response | Promise<Response> => {
    const observed = this.#observed.get(request)
    if (!observed?.injected) return response
    const onSettled = () => this.#close(observed, request)
    return this.concerns.injection.deliver(observed, observed.injected, request, response, onSettled)
  }

  #close(observed: ObservedRequest, request: Request): void {
    if (isAboutSandbox(pathOf(request.url))) return
    const world = this.#worldOf(request) ?? this.concerns.worlds.default
    this.#observed.delete(request)
    this.concerns.explored()?.ended(request, observed.changes.length > 0)
    if (!world.closed) this.#record(world, request, observed)
  }

  /** Records a request in the log and the coverage of its world. */
  #record(world: World, request: Request, observed: ObservedRequest): void {
    const { outcomes, listeners } = this.concerns
    const { route, failure, refusedStrictly, response } = observed
    const outcome = route === null || refusedStrictly ? undefined : outcomes.outcomeOf(request.method, route, failure)
    observed.outcome = outcome?.name ?? null
    // The outcome of a dry run does not count, except for the errors of its header.
    const isMet = !isOfDryRun(response.headers) || (failure !== undefined && isOfHeader(failure))
    if (outcome && isMet) outcomes.count(world, outcome)
    const path = pathOf(request.url)
    if (isProbe(path) || isAsset(path)) return
    observed.atMs = world.clock.nowMs()
    observed.method = request.method
    observed.path = targetOf(request.url)
    observed.requestBody = sentBody(request)
    observed.endedMs = sinceStartMs()
    observed.fault = observed.injected?.fault.name ?? null
    observed.injected = undefined
    const logged = world.of(requestLog).add(observed)
    for (const listener of listeners) listener(logged)
  }
}

/** The session with which a request writes. It notes the rows and the events that the request writes. */
const watchedSession = (observed: ObservedRequest, session: Session): Session => {
  const { world } = session
  return {
    ...session,
    write: async (work) => {
      watchRows(world)
      let events: string[] = []
      const value = await session.write((tx) => {
        events = [] // of a unit of work that was undone and runs again
        using _ = listenToEvents(world, ({ eventId }) => events.push(eventId))
        const written = withChanges(world, () => work(tx))
        observed.changes = [...observed.changes, ...written.changes]
        if (written.changes.length > 0) markWritten(world)
        return written.value
      })
      observed.events.push(...events)
      return value
    },
  }
}
