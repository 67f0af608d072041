import { Elysia } from 'elysia'
import { FEATURE_DISABLED, rateLimited } from '../http/failures.ts'
import type { BucketSize } from '../http/rate-limit.ts'
import type { RequestContext } from '../http/request-id.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import type { DueWork } from '../worlds/due.ts'
import type { World } from '../worlds/world.ts'
import { bucketsOf, type Feature } from './clients.ts'
import type { Session, Sessions } from './sessions.ts'

export interface GuardOptions {
  sessions: Sessions
  /** The buckets of each client, or undefined when limits are lifted. */
  limits: readonly BucketSize[] | undefined
  /** What must have happened in a world before a request can look at it. */
  due: DueWork
  /** What a request to a route has to wait for, if anything, before it can be handled. */
  beforeRoute: (route: string) => Promise<void> | undefined
  /** Takes over what another process has written to a world, and answers whether it has. */
  keepUp: (world: World) => boolean
  /** Hears whose a request is, before it is charged to anyone. */
  onIdentified: ((request: Request, session: Session) => void) | undefined
  /** Is told of every request that is let in, and may refuse it or replace its session. */
  onAdmitted: ((asked: Asked, session: Session) => Session | Promise<Session>) | undefined
}

/** A request and the route that serves it; an empty one where none does. */
export interface Asked {
  request: Request
  path: string
  route: string
}

type GuardContext = RequestContext &
  Asked & {
    /** Takes no token of the buckets. */
    isFree?: boolean
    /** What the client must have. */
    feature?: Feature
  }

/** What stands in front of every protected route (contract C4): authentication, then limits, then features. */
export class Guard {
  constructor(private readonly options: GuardOptions) {}

  /**
   * At once where nothing has to be waited for, which is the rule; a promise costs more than all the rest.
   *
   * @throws DomainError unauthorized or rate_limited; the headers of the limit are set in both cases that follow
   */
  readonly admit = (context: GuardContext): Session | Promise<Session> => {
    const authorization = context.request.headers.get('authorization')
    const session = this.#recall(authorization)
    return session
      ? this.#enter(context, session)
      : this.#verify(authorization).then((verified) => this.#enter(context, verified))
  }

  #enter(context: GuardContext, session: Session): Session | Promise<Session> {
    const { limits, due, onIdentified } = this.options
    const { request, set, isFree = false } = context
    set.headers['X-Request-Id'] ??= session.world.nextRequestId()
    onIdentified?.(request, session)
    if (limits) charge(session, limits, set, isFree)
    const wait = this.options.beforeRoute(context.route)
    const isReading = request.method === 'GET'
    const caughtUp = () => (isReading && due.isDue(session.world) ? due.catchUp(session.world) : undefined)
    const ready = wait ? wait.then(caughtUp) : caughtUp()
    const admitted = ready ? ready.then(() => this.#handOver(context, session)) : this.#handOver(context, session)
    return admitted instanceof Promise ? admitted.then(checkedAgain) : admitted
  }

  #handOver({ request, path, route, feature }: GuardContext, session: Session): Session | Promise<Session> {
    const { onAdmitted } = this.options
    const own = feature ? entitled(session, feature) : session
    const admitted = request.method === 'GET' ? own : this.#inStep(own)
    return onAdmitted ? onAdmitted({ request, path, route }, admitted) : admitted
  }

  /** A session whose writes come after all that has fallen due by then. */
  #inStep(session: Session): Session {
    return {
      ...session,
      write: (work) => this.options.due.write(session.world, session.write, work),
    }
  }

  /** The session of a token that was verified before, if no other process has written to its world since. */
  #recall(authorization: string | null): Session | undefined {
    const { sessions, keepUp } = this.options
    const session = sessions.recall(authorization)
    return session && !keepUp(session.world) ? session : undefined
  }

  /** The session of a token as it stands now, in this process and in any other that writes to the same file. */
  async #verify(authorization: string | null): Promise<Session> {
    const { sessions, keepUp } = this.options
    const session = await sessions.admit(authorization)
    return keepUp(session.world) ? sessions.admit(authorization) : session
  }

  /** Gives the routes of a folder their `session`, once the guard has let the request in. */
  plugin({ feature, isFree = false }: Pick<GuardContext, 'feature' | 'isFree'> = {}) {
    return new Elysia().derive({ as: 'scoped' }, async ({ request, set, path, route }) => ({
      session: await this.admit({ request, set, path, route, isFree, ...(feature && { feature }) }),
    }))
  }
}

/** The session of a client that has a feature, and has it still when it writes. @throws DomainError feature_disabled */
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

/** A request that had to wait shows nothing to a token that has died meanwhile. */
const checkedAgain = (session: Session): Session => {
  session.checkAgain()
  return session
}

const charge = (
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
