import { rateMissing } from '../../charges/contract.ts'
import { sentBody } from '../../http/body.ts'
import { STRUCTURED } from '../../http/errors.ts'
import { parseObject } from '../../http/json.ts'
import type { HttpObserver } from '../../http/observer.ts'
import { isOfHeader, isRehearsed } from '../../http/rehearsal.ts'
import { ownRequests } from '../../http/request-timer.ts'
import { pathOf, targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import type { Log } from '../../observability/log.ts'
import { CREDENTIALS_WRONG } from '../../sessions/contract.ts'
import type { Asked } from '../../sessions/guard.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { shownRequest, shownResponse } from '../console/navigation.ts'
import { isAboutSandbox, isAsset, isControl, isExempt, isProbe } from '../control/gate.ts'
import { unknownIn } from '../control/strict.ts'
import type { WriteLog } from '../explore/writes.ts'
import { currenciesOf } from '../faults/currencies.ts'
import { impaired, responseOf, substituteFor } from '../faults/delivery.ts'
import { type Fault, findFault, inject, lostResponse } from '../faults/faults.ts'
import type { Parts } from '../parts.ts'
import { usernameIn, worldMeant, worldOfBearer } from '../worlds/accounts.ts'
import { plainName } from '../worlds/query.ts'
import { refusalFacts } from '../worlds/refused-logins.ts'
import { markWritten } from '../worlds/written.ts'
import { EventObserver } from './events.ts'
import { shownPartOf } from './redaction.ts'
import { type Injected, ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface Options extends Pick<Parts, 'outcomes' | 'coverage' | 'worlds' | 'catalog' | 'reference'> {
  log: Log
  strict: boolean
  /** Whether somebody looks at requests while they happen. */
  isWatched: () => boolean
}

/** Applies faults to requests, and records each request in the log and the coverage of its world. */
export class RequestObserver implements HttpObserver {
  readonly #inProgress = new WeakMap<Request, ObservedRequest>()
  /** Is shown each write while `scrip run --explore` runs. */
  writes: WriteLog | undefined
  readonly #events: EventObserver
  readonly #listeners: RecordingListener[] = []

  constructor(private readonly options: Options) {
    const { worlds, coverage } = options
    this.#events = new EventObserver((world, { type }) => coverage.countEvent(world, type, 'count'))
    worlds.onPresent((world) => this.#events.watch(world))
  }

  onRecorded(listener: RecordingListener): void {
    this.#listeners.push(listener)
  }

  arrived = (request: Request): void => {
    if (!ownRequests.has(request) && !this.#inProgress.has(request))
      this.#inProgress.set(request, new ObservedRequest(request.headers))
  }

  /** Names the world of a replayed request: the access token that would name it is redacted. */
  expect(request: Request, world: World): void {
    this.arrived(request)
    this.belongs(request, world)
  }

  identified = (request: Request, { client, world }: Session): void => {
    const observed = this.#inProgress.get(request)
    if (!observed) return
    observed.client = usernameIn(world, client.username)
    observed.world = world
  }

  /** Called when the guard has let a request into a world. @throws DomainError the injected fault, or validation */
  admitted = (target: Asked, session: Session): Session | Promise<Session> => {
    const observed = this.#inProgress.get(target.request)
    if (!observed) return session
    const injected = this.#inject(observed, session.world, target, session)
    // Reading writes nothing.
    if (target.request.method === 'GET') return injected ? injected.then(() => session) : session
    const watched = this.#watchedBy(observed, session)
    if (this.writes) return this.#losing(observed, this.writes, target, injected, watched)
    return injected ? injected.then(() => watched) : watched
  }

  /** Loses the response to a write if the log says so, before the work or after its commit. @throws DomainError */
  async #losing(
    observed: ObservedRequest,
    writes: WriteLog,
    target: Asked,
    injected: Promise<void> | undefined,
    session: Session,
  ): Promise<Session> {
    await injected
    const when = await writes.admitted(target, session)
    if (when) await this.#apply(observed, { fault: lostResponse(when), target, session })
    return session
  }

  /** With `--strict`, an undocumented name is refused after features (decision 15). */
  entitled = (target: Asked): Promise<void> | undefined =>
    this.options.strict ? this.refuseUnknown(target) : undefined

  /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
  entered = (target: Asked): Promise<void> | undefined => {
    const observed = this.#inProgress.get(target.request)
    const operation = this.options.outcomes.operationAt(target.request.method, target.route)
    return observed && operation?.public ? this.#enterPublic(observed, target) : undefined
  }

  async #enterPublic(observed: ObservedRequest, target: Asked): Promise<void> {
    const { request, route } = target
    const { worlds } = this.options
    observed.world ??= await worldMeant(worlds, request, route)
    await this.#inject(observed, observed.world ?? worlds.default, target)
    // The control API does so behind its gate.
    if (!isControl(route)) await this.refuseUnknown(target)
  }

  /** Refuses what the operation does not document. @throws DomainError validation */
  refuseUnknown = async ({ request, route }: Asked): Promise<void> => {
    const observed = this.#inProgress.get(request)
    const operation = this.options.outcomes.operationAt(request.method, route)
    if (!observed || !operation) return
    if (!isControl(route) && !this.options.strict) return
    const violations = await unknownIn(operation, request)
    if (violations.length === 0) return
    observed.refusedStrictly = true
    throw new DomainError(invalid(violations))
  }

  belongs = (request: Request, world: World): void => {
    const observed = this.#inProgress.get(request)
    if (observed) observed.world = world
  }

  #inject(observed: ObservedRequest, world: World, target: Asked, session?: Session): Promise<void> | undefined {
    observed.route = target.route || null
    if (isExempt(target.route)) return undefined
    const fault = findFault(this.options.outcomes, world, target)
    return fault && this.#apply(observed, { fault, target, session })
  }

  /** @throws DomainError the fault, if it comes before the work */
  #apply(observed: ObservedRequest, injected: Injected): Promise<void> | undefined {
    observed.injected = injected
    return injected.fault.when === 'before' ? this.#withCurrencies(injected).then(inject) : undefined
  }

  /** A missing rate names the currencies of the request, if it names them itself. */
  async #withCurrencies({ fault, target, session }: Injected): Promise<Fault> {
    if (fault.failure?.code !== 'rate_missing' || !session) return fault
    const currencies = await currenciesOf(this.options, target, session)
    return currencies ? { ...fault, failure: rateMissing(currencies.from, currencies.to) } : fault
  }

  /** The world that a request is about, as far as that is known. */
  worldOf(request: Request): string {
    const { worlds } = this.options
    const world = this.#inProgress.get(request)?.world ?? worldOfBearer(worlds, request)
    return world?.name ?? plainName(new URL(request.url).searchParams.get('world') ?? DEFAULT_WORLD)
  }

  /** The fault of a request, as logs show it. */
  faultOf = (request: Request): string | undefined => this.#inProgress.get(request)?.injected?.fault.name

  ended: HttpObserver['ended'] = (request, route, { status, headers, body }, failure) => {
    const observed = this.#inProgress.get(request)
    if (!observed) return
    if (failure) {
      observed.failure = failure
      observed.route ??= route || null
    }
    observed.response = { status, headers, body: body instanceof Uint8Array ? shownPartOf(body) : body }
    // What a fault makes of the response is not known yet.
    if (observed.injected) return
    if (failure === CREDENTIALS_WRONG) this.#explainRefusal(request)
    this.#close(observed, request)
  }

  /** The response to a wrong login does not say what is wrong with it. */
  #explainRefusal(request: Request): void {
    const { log, worlds } = this.options
    const { username } = parseObject(sentBody(request) ?? '')
    log.warn('login refused', refusalFacts(worlds, String(username)))
  }

  readonly shown = shownRequest

  /** What the client gets instead of a response. */
  deliver = (request: Request, response: Response): Response | Promise<Response> => {
    const observed = this.#inProgress.get(request)
    return observed?.injected
      ? this.#deliver(observed, observed.injected, request, response)
      : shownResponse(request, response)
  }

  async #deliver(
    observed: ObservedRequest,
    injected: Injected,
    request: Request,
    response: Response,
  ): Promise<Response> {
    const fault = await this.#withCurrencies(injected)
    if (fault.when === 'after' && fault.delay_ms > 0) await Bun.sleep(fault.delay_ms)
    const operation = this.options.outcomes.operationAt(request.method, injected.target.route)
    const substitute = substituteFor(fault, response, operation ?? STRUCTURED)
    if (substitute) {
      observed.failure = fault.failure
      observed.response = substitute
    }
    this.#close(observed, request)
    return impaired(fault, request, substitute ? responseOf(substitute) : response)
  }

  #close(observed: ObservedRequest, request: Request): void {
    const path = pathOf(request.url)
    const { worlds } = this.options
    if (isAboutSandbox(path)) return
    this.#inProgress.delete(request)
    this.writes?.ended(request, observed.changes.length > 0)
    const world = observed.world ?? worldOfBearer(worlds, request) ?? worlds.default
    if (world.closed) return
    this.#count(world, request, observed)
    if (isProbe(path) || isAsset(path)) return
    observed.atMs = world.clock.nowMs()
    observed.method = request.method
    observed.path = targetOf(request.url)
    observed.requestBody = sentBody(request)
    observed.endedMs = sinceStartMs()
    observed.durationMs = observed.endedMs - observed.startedMs
    observed.fault = observed.injected?.fault.name ?? null
    observed.injected = undefined
    if (observed.failure && observed.client === null) observed.cut()
    const logged = world.of(requestLog).add(observed)
    for (const listener of this.#listeners) listener(logged)
  }

  #count(world: World, { method }: Request, observed: ObservedRequest): void {
    const { route, failure, refusedStrictly } = observed
    if (route === null || refusedStrictly) return
    const outcome = this.options.outcomes.outcomeOf(method, route, failure)
    if (!outcome) return
    observed.outcome = outcome.name
    // What a rehearsal met is met by no client; what is wrong with its header, by nothing else.
    if (!isRehearsed(observed.response.headers) || (failure && isOfHeader(failure)))
      this.options.coverage.count(world, outcome)
  }

  /** A session whose writes report their row changes and events. */
  #watchedBy(observed: ObservedRequest, session: Session): Session {
    const { world } = session
    return {
      ...session,
      write: (work) => {
        const takesValues = this.options.isWatched()
        watchRows(world)
        return this.#events.during(observed, world, (cause) =>
          session.write((tx) => {
            const { value, changes } = withChanges(world, takesValues, () => cause(() => work(tx)))
            observed.changes = [...observed.changes, ...changes]
            if (changes.length > 0) markWritten(world)
            return value
          }),
        )
      },
    }
  }
}
