import { rateMissing } from '../../charges/errors.ts'
import { sentBody } from '../../http/body.ts'
import type { HttpObserver } from '../../http/observer.ts'
import { pathOf, targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import type { Asked } from '../../sessions/guard.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { isAboutSandbox, isControl, isExempt, isProbe } from '../control/gate.ts'
import { unknownIn, unknownMembersIn } from '../control/strict.ts'
import { CONNECTION_DROPPED } from '../errors.ts'
import type { WriteLog } from '../explore/writes.ts'
import { currenciesOf } from '../faults/currencies.ts'
import { type Fault, findFault, inject } from '../faults/faults.ts'
import type { Parts } from '../parts.ts'
import { worldMeant, worldOfBearer } from '../worlds/accounts.ts'
import { shownPartOf } from './redaction.ts'
import { ObservedRequest, requestLog } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface Options extends Pick<Parts, 'outcomes' | 'coverage' | 'worlds' | 'catalog' | 'reference'> {
  strict: boolean
}

/** Applies faults to requests, and records each request in the log and the coverage of its world. */
export class RequestObserver implements HttpObserver {
  readonly #inProgress = new WeakMap<Request, ObservedRequest>()
  /** Is shown each write while `scrip run --explore` runs. */
  writes: WriteLog | undefined

  constructor(private readonly options: Options) {}

  arrived = (request: Request): void => {
    if (!this.#inProgress.has(request)) this.#inProgress.set(request, new ObservedRequest(request.headers))
  }

  /** Names the world of a replayed request: the access token that would name it is redacted. */
  expect(request: Request, world: World): void {
    this.arrived(request)
    this.belongs(request, world)
  }

  identified = (request: Request, { client, world }: Session): void => {
    const observed = this.#inProgress.get(request)
    if (!observed) return
    observed.client = client.username
    observed.world = world
  }

  /** Called when the guard has let a request into a world. @throws DomainError the injected fault, or validation */
  admitted = (target: Asked, session: Session): Session | Promise<Session> => {
    const observed = this.#inProgress.get(target.request)
    if (!observed) return session
    const injected = this.#inject(observed, session.world, target, session)
    // Reading writes nothing.
    if (target.request.method === 'GET') return injected ? injected.then(() => session) : session
    const watched = watchedBy(observed, session)
    if (this.writes) return this.#losing(this.writes, target, watched, injected)
    return injected ? injected.then(() => watched) : watched
  }

  /** Loses the response to a write if the log says so, before the work or after its commit. @throws DomainError */
  async #losing(
    writes: WriteLog,
    target: Asked,
    session: Session,
    injected: Promise<void> | undefined,
  ): Promise<Session> {
    await injected
    const lost = await writes.admitted(target, session)
    if (lost === 'before') throw new DomainError(CONNECTION_DROPPED)
    if (lost === undefined) return session
    return {
      ...session,
      write: async (work) => {
        await session.write(work)
        throw new DomainError(CONNECTION_DROPPED)
      },
    }
  }

  /** With `--strict`, an undocumented name is refused after features (decision 15). */
  entitled = (target: Asked): Promise<void> | undefined =>
    this.options.strict ? this.refuseUnknown(target) : undefined

  /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
  entered = async (target: Asked): Promise<void> => {
    const { request, route } = target
    const { outcomes, worlds } = this.options
    const observed = this.#inProgress.get(request)
    if (!observed || !outcomes.operationAt(request.method, route)?.public) return
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
    const violations = this.options.strict ? await unknownIn(operation, request) : []
    if (operation.closed) violations.push(...(await unknownMembersIn(operation, request)))
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
    const found = findFault(this.options.outcomes, world, target)
    if (!found) return undefined
    observed.fault = found.name
    return this.#withCurrencies(found, target, session).then(inject)
  }

  /** A missing rate names the currencies of the request, if it names them itself. */
  async #withCurrencies(found: Fault, target: Asked, session: Session | undefined): Promise<Fault> {
    const failure = found.error?.failure
    if (failure?.code !== 'rate_missing' || !session) return found
    const currencies = await currenciesOf(this.options, target, session)
    return { ...found, error: currencies ? new DomainError(rateMissing(currencies.from, currencies.to)) : found.error }
  }

  ended: HttpObserver['ended'] = (request, route, { status, headers, body }, failure) => {
    const observed = this.#inProgress.get(request)
    const path = pathOf(request.url)
    const { worlds } = this.options
    if (!observed || isAboutSandbox(path)) return
    if (failure) {
      observed.failure = failure
      observed.route ??= route || null
    }
    this.#inProgress.delete(request)
    this.writes?.ended(request, observed.changes.length > 0)
    const world = observed.world ?? worldOfBearer(worlds, request) ?? worlds.default
    if (world.closed) return
    this.#count(world, request, observed)
    if (isProbe(path)) return
    observed.atMs = world.clock.nowMs()
    observed.method = request.method
    observed.path = targetOf(request.url)
    observed.requestBody = sentBody(request)
    observed.status = status
    observed.responseHeaders = headers
    observed.responseBody = body instanceof Uint8Array ? shownPartOf(body) : body
    observed.durationMs = sinceStartMs() - observed.startedMs
    if (observed.failure && observed.client === null) observed.cut()
    world.of(requestLog).add(observed)
  }

  #count(world: World, { method }: Request, observed: ObservedRequest): void {
    const { route, failure, refusedStrictly } = observed
    if (route === null || refusedStrictly) return
    const outcome = this.options.outcomes.outcomeOf(method, route, failure)
    if (!outcome) return
    observed.outcome = outcome.name
    this.options.coverage.count(world, outcome)
  }
}

/** A session whose writes report their row changes. */
const watchedBy = (observed: ObservedRequest, session: Session): Session => ({
  ...session,
  write: (work) => {
    watchRows(session.world)
    return session.write((tx) => {
      const { value, changes } = withChanges(session.world, () => work(tx))
      observed.changes = [...observed.changes, ...changes]
      return value
    })
  },
})
