import type { HttpObserver } from '../../http/observer.ts'
import { ownRequests } from '../../http/request-timer.ts'
import { pathOf } from '../../http/target.ts'
import { DomainError, invalid } from '../../kernel/failure.ts'
import type { Log } from '../../observability/log.ts'
import { CREDENTIALS_WRONG } from '../../sessions/contract.ts'
import type { Asked } from '../../sessions/guard.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { DEFAULT_WORLD } from '../../worlds/worlds.ts'
import { shownRequest, shownResponse } from '../console/navigation.ts'
import { isAboutSandbox, isControl } from '../control/gate.ts'
import { unknownIn } from '../control/strict.ts'
import type { WriteLog } from '../explore/writes.ts'
import { Injection } from '../faults/injection.ts'
import type { Parts } from '../parts.ts'
import { usernameIn, worldMeant, worldOfBearer } from '../worlds/accounts.ts'
import { plainName } from '../worlds/query.ts'
import { explainRefusal } from '../worlds/refused-logins.ts'
import { EventObserver } from './events.ts'
import { Recorder } from './recorder.ts'
import { shownPartOf } from './redaction.ts'
import { ObservedRequest, type RecordingListener } from './request-log.ts'
import { watchedBy } from './watched-writes.ts'

interface Options extends Pick<Parts, 'outcomes' | 'coverage' | 'worlds' | 'catalog' | 'reference'> {
  log: Log
  strict: boolean
  /** Whether somebody looks at requests while they happen. */
  isWatched: () => boolean
}

/** Knows the requests that are in progress, and hands each to what injects faults, watches its writes and records it. */
export class RequestObserver implements HttpObserver {
  readonly #inProgress = new WeakMap<Request, ObservedRequest>()
  /** Is shown each write while `scrip run --explore` runs. */
  writes: WriteLog | undefined
  readonly #events: EventObserver
  readonly #injection: Injection
  readonly #recorder: Recorder

  constructor(private readonly options: Options) {
    const { worlds, coverage } = options
    this.#events = new EventObserver((world, { type }) => coverage.countEvent(world, type, 'count'))
    worlds.onPresent((world) => this.#events.watch(world))
    this.#injection = new Injection(options)
    this.#recorder = new Recorder(options)
  }

  onRecorded(listener: RecordingListener): void {
    this.#recorder.onRecorded(listener)
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
    const injected = this.#injection.before(observed, session.world, target, session)
    // Reading writes nothing.
    if (target.request.method === 'GET') return injected ? injected.then(() => session) : session
    const watched = watchedBy(observed, session, this.#events, this.options.isWatched)
    const { writes } = this
    if (!injected && !writes) return watched
    return Promise.resolve(injected)
      .then(() => writes && this.#injection.losing(observed, writes, target, watched))
      .then(() => watched)
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
    await this.#injection.before(observed, observed.world ?? worlds.default, target)
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
    if (failure === CREDENTIALS_WRONG) explainRefusal(this.options, request)
    this.#close(observed, request)
  }

  readonly shown = shownRequest

  /** What the client gets instead of a response. */
  deliver = (request: Request, response: Response): Response | Promise<Response> => {
    const observed = this.#inProgress.get(request)
    return observed?.injected
      ? this.#injection.deliver(observed, observed.injected, request, response, () => this.#close(observed, request))
      : shownResponse(request, response)
  }

  #close(observed: ObservedRequest, request: Request): void {
    if (isAboutSandbox(pathOf(request.url))) return
    const { worlds } = this.options
    this.#inProgress.delete(request)
    this.writes?.ended(request, observed.changes.length > 0)
    this.#recorder.record(observed.world ?? worldOfBearer(worlds, request) ?? worlds.default, request, observed)
  }
}
