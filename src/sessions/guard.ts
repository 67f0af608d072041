import { isSentBy } from '../http/body.ts'
import { readDryRun } from '../http/dry-run.ts'
import { FEATURE_DISABLED, rateLimited } from '../http/failures.ts'
import { unreadable } from '../http/json.ts'
import type { Group } from '../http/operation.ts'
import type { BucketSize } from '../http/rate-limit.ts'
import { type RequestContext, type RequestTarget, type RoutedRequest, traceparentOf } from '../http/request-id.ts'
import { Routes } from '../http/route-lines.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { andThen, turns } from '../kernel/turns.ts'
import { causedBy } from '../work/cause.ts'
import { undoing } from '../work/dry-run.ts'
import type { DueWork } from '../work/due.ts'
import { bucketsOf, type Client, type Feature } from './clients.ts'
import type { Session, Sessions } from './sessions.ts'

interface GuardOptions {
  sessions: Sessions
  /** The rate limits of a client; undefined if it has none. */
  limitsOf: (client: Client) => readonly BucketSize[] | undefined
  due: DueWork
  /** True if due work is done before a read. Otherwise reads do not wait, and a timer does due work. */
  isDueBeforeReads: boolean
  /** True if events keep the id of their request, which the sandbox finds in its request log. */
  keepsRequestIds: boolean
  /** Called before a rate-limit token is taken. */
  onIdentified: ((request: Request, session: Session) => void) | undefined
  /** May refuse an admitted request or replace its session. */
  onAdmitted: ((target: RequestTarget, session: Session) => Session | Promise<Session>) | undefined
  /** May refuse a request whose client has the feature that the route needs. */
  onEntitled: ((target: RequestTarget) => Promise<void> | undefined) | undefined
}

/** Authentication, rate limits, due work and features of protected routes, in this order (contract C4). */
export class Guard {
  constructor(private readonly options: GuardOptions) {}

  /** @throws DomainError unauthorized, rate_limited or feature_disabled */
  readonly admit = (routed: RoutedRequest): Session | Promise<Session> => {
    const { sessions } = this.options
    const authorization = routed.request.headers.get('authorization')
    return andThen(sessions.recall(authorization) ?? sessions.admit(authorization), (session) =>
      andThen(this.#takeTurn(routed, session), () =>
        isRead(routed.request) ? this.#admitRead(routed, session) : this.#admitWrite(routed, session),
      ),
    )
  }

  #takeTurn({ request, set, operation }: RoutedRequest, session: Session): Promise<void> | undefined {
    set.headers['X-Request-Id'] ??= session.world.nextRequestId()
    this.options.onIdentified?.(request, session)
    const limits = this.options.limitsOf(session.client)
    if (limits) takeToken(session, limits, set, operation?.free === true)
    return turns.take(session.client)
  }

  #admitRead(routed: RoutedRequest, session: Session): Session | Promise<Session> {
    const { due, isDueBeforeReads } = this.options
    const isWaiting = isDueBeforeReads && due.isDue(session.world)
    return andThen(isWaiting ? due.catchUpToRead(session.world) : undefined, () =>
      andThen(this.#entitle(routed, session), (entitled) => {
        entitled.checkAgain()
        return entitled
      }),
    )
  }

  #admitWrite(routed: RoutedRequest, session: Session): Session | Promise<Session> {
    const { request, operation, set } = routed
    isSentBy(request, session.client)
    const dryRun = operation?.hasDryRun ? readDryRun(request, operation, set.headers) : undefined
    return andThen(this.#entitle(routed, this.#inStep(session, request, set.headers['X-Request-Id'])), (entitled) => {
      if (dryRun?.refusal) throw dryRun.refusal
      entitled.checkAgain()
      return dryRun?.isDryRun ? withoutEffect(entitled) : entitled
    })
  }

  /** The session once nothing refuses the request. It must be checked again: the request may have waited until its token was revoked. */
  #entitle(routed: RoutedRequest, session: Session): Session | Promise<Session> {
    const { onAdmitted, onEntitled } = this.options
    const feature = routed.operation?.feature
    return andThen(onAdmitted?.(routed, session) ?? session, (admitted) => {
      const checked = feature ? entitled(admitted, feature) : admitted
      return andThen(onEntitled?.(routed), () => checked)
    })
  }

  /** A session that does due work before each write, and writes only while the client of the request is connected. */
  #inStep(session: Session, request: Request, requestId: unknown): Session {
    const { world, write } = session
    const kept = this.options.keepsRequestIds ? String(requestId) : null
    const cause = { requestId: kept, traceparent: traceparentOf(request) ?? null }
    return {
      ...session,
      write: (work) =>
        this.options.due.write(world, write, (tx) => {
          if (request.signal.aborted) throw unreadable()
          return causedBy(world, cause, () => work(tx))
        }),
    }
  }

  /** The routes of a module, which get the session of their requests. */
  routes(group: Group<undefined> & { feature?: Feature }) {
    return new Routes<{ session: Session }>(group, (context) => {
      const give = (session: Session): undefined => {
        context.session = session
      }
      const admitted = this.admit(context)
      return admitted instanceof Promise ? admitted.then(give) : give(admitted)
    })
  }
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** A session whose writes are undone (contract C19). */
const withoutEffect = (session: Session): Session => ({
  ...session,
  write: undoing(session.world, session.write),
  isDryRun: true,
})

/** A session that requires a feature, now and at each write. @throws DomainError feature_disabled */
const entitled = (session: Session, feature: string): Session => {
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
