import { Elysia } from 'elysia'
import { FEATURE_DISABLED, rateLimited } from '../http/failures.ts'
import type { BucketSize } from '../http/rate-limit.ts'
import type { RequestContext } from '../http/request-id.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import type { DueWork } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { bucketsOf, type Feature, limitsOf } from './clients.ts'
import type { Session, Sessions } from './sessions.ts'

export interface GuardOptions {
  sessions: Sessions
  /** Undefined if rate limits are off. */
  limits: readonly BucketSize[] | undefined
  due: DueWork
  /** Reads again what another process has written, and returns whether it has. */
  refreshIfChanged: (world: World) => boolean
  /** Called before a rate-limit token is taken. */
  onIdentified: ((request: Request, session: Session) => void) | undefined
  /** May refuse an admitted request or replace its session. */
  onAdmitted: ((asked: Asked, session: Session) => Session | Promise<Session>) | undefined
  /** May refuse a request whose client has the feature that the route needs. */
  onEntitled: ((asked: Asked) => Promise<void> | undefined) | undefined
}

/** A request and its route; the route is empty if none matches. */
export interface Asked {
  request: Request
  path: string
  route: string
}

type GuardContext = RequestContext &
  Asked & {
    /** Takes no rate-limit token. */
    isFree?: boolean
    feature?: Feature
    /** What the request must wait for. */
    ready?: () => Promise<void> | undefined
  }

/** Authentication, rate limits, due work and features of protected routes, in this order (contract C4). */
export class Guard {
  constructor(private readonly options: GuardOptions) {}

  /**
   * Returns no promise unless it has to wait, because a promise costs more than all the rest.
   *
   * @throws DomainError unauthorized, rate_limited or feature_disabled
   */
  readonly admit = (context: GuardContext): Session | Promise<Session> => {
    const authorization = context.request.headers.get('authorization')
    const session = this.#recall(authorization)
    return next(session ?? this.#verify(authorization), (verified) => this.#enter(context, verified))
  }

  #enter(context: GuardContext, session: Session): Session | Promise<Session> {
    const { due, onIdentified } = this.options
    const limits = limitsOf(session.client, this.options.limits)
    const { request, set, isFree = false } = context
    set.headers['X-Request-Id'] ??= session.world.nextRequestId()
    onIdentified?.(request, session)
    if (limits) takeToken(session, limits, set, isFree)
    const isReading = request.method === 'GET'
    const caughtUp = () => (isReading && due.isDue(session.world) ? due.catchUp(session.world) : undefined)
    const admitted = next(next(context.ready?.(), caughtUp), () => this.#handOver(context, session))
    return admitted instanceof Promise ? admitted.then(checkedAgain) : admitted
  }

  #handOver(context: GuardContext, session: Session): Session | Promise<Session> {
    const { request, path, route } = context
    const inStep = request.method === 'GET' ? session : this.#inStep(session)
    const admitted = this.options.onAdmitted?.({ request, path, route }, inStep) ?? inStep
    return next(admitted, (own) => this.#entitle(context, own))
  }

  #entitle({ request, path, route, feature }: GuardContext, session: Session): Session | Promise<Session> {
    const own = feature ? entitled(session, feature) : session
    return next(this.options.onEntitled?.({ request, path, route }), () => own)
  }

  /** A session that does due work before each write. */
  #inStep(session: Session): Session {
    return {
      ...session,
      write: (work) => this.options.due.write(session.world, session.write, work),
    }
  }

  /** The cached session of a token, if no other process has written to its world since. */
  #recall(authorization: string | null): Session | undefined {
    const { sessions, refreshIfChanged } = this.options
    const session = sessions.recall(authorization)
    return session && !refreshIfChanged(session.world) ? session : undefined
  }

  async #verify(authorization: string | null): Promise<Session> {
    const { sessions, refreshIfChanged } = this.options
    const session = await sessions.admit(authorization)
    return refreshIfChanged(session.world) ? sessions.admit(authorization) : session
  }

  /** Provides `session` to the routes of a module. */
  plugin(requirements: Pick<GuardContext, 'feature' | 'isFree' | 'ready'> = {}) {
    return new Elysia().derive({ as: 'scoped' }, async ({ request, set, path, route }) => ({
      session: await this.admit({ request, set, path, route, ...requirements }),
    }))
  }
}

/** Goes on at once, or after the promise. */
const next = <Value, Result>(
  value: Value | Promise<Value>,
  work: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> => (value instanceof Promise ? value.then(work) : work(value))

/** A session that requires a feature, now and when it writes. @throws DomainError feature_disabled */
const entitled = (session: Session, feature: Feature): Session => {
  const check = (): void => {
    if (!session.client.features.has(feature)) throw new DomainError(FEATURE_DISABLED)
  }
  check()
  return {
    ...session,
    write: (work) =>
      session.write((tx) => {
        check()
        return work(tx)
      }),
  }
}

/** A request that had to wait must not read with a token that was revoked in the meantime. */
const checkedAgain = (session: Session): Session => {
  session.checkAgain()
  return session
}

const takeToken = (
  { world, client }: Session,
  limits: readonly BucketSize[],
  { headers }: RequestContext['set'],
  isFree: boolean,
): void => {
  const { clock } = world
  const buckets = bucketsOf(world, client, limits)
  const refused = isFree ? buckets.refill(clock.steadyMs()) : buckets.take(clock.steadyMs())
  const { limit, remaining, fullInMs } = buckets.tighter
  headers['X-RateLimit-Limit'] = String(limit)
  headers['X-RateLimit-Remaining'] = String(remaining)
  headers['X-RateLimit-Reset'] = String(Math.ceil((clock.nowMs() + fullInMs) / SECOND_MS))
  if (refused) throw new DomainError(rateLimited(refused.retryAfterSeconds))
}
