import { type DryRun, NO_DRY_RUN, readDryRun } from '../http/dry-run.ts'
import { FEATURE_DISABLED, rateLimited } from '../http/failures.ts'
import type { Incoming } from '../http/incoming.ts'
import { unreadable } from '../http/json.ts'
import type { Group } from '../http/operation.ts'
import type { BucketSize } from '../http/rate-limit.ts'
import { traceparentOf } from '../http/request-id.ts'
import { Routes } from '../http/route-lines.ts'
import { SECOND_MS } from '../kernel/clock.ts'
import { DomainError } from '../kernel/failure.ts'
import { andThen, turns } from '../kernel/turns.ts'
import { causedBy } from '../work/cause.ts'
import { undoing } from '../work/dry-run.ts'
import type { DueWork } from '../work/due.ts'
import type { World } from '../work/world.ts'
import { bucketsOf, type Client, type Feature } from './clients.ts'
import type { Session, Sessions } from './sessions.ts'

/** Takes part in the admission of requests, and in what they write. */
export interface GuardWatcher {
  /** Called before a rate-limit token is taken. */
  identified: (incoming: Incoming, session: Session) => void
  /** May refuse a request that is within its limits. */
  admitted: (incoming: Incoming, session: Session) => Promise<void> | undefined
  /** May refuse a request whose client has the feature that the route needs. */
  entitled: (incoming: Incoming) => Promise<void> | undefined
  /** Watches what a request writes. */
  watched: (incoming: Incoming, world: World, write: Session['write']) => Session['write']
}

interface GuardOptions {
  sessions: Sessions
  /** The rate limits of a client; undefined if it has none. */
  limitsOf: (client: Client) => readonly BucketSize[] | undefined
  due: DueWork
  /** Called with the world of each client, so that what waits there for a webhook is delivered. */
  watchDeliveries: (world: World) => void
  /** The name of a client in logs. */
  usernameOf: (who: Pick<Session, 'world' | 'client'>) => string
  /** True if due work is done before a read. Otherwise reads do not wait, and a timer does due work. */
  isDueBeforeReads: boolean
  /** True if events keep the id of their request, which the sandbox finds in its request log. */
  keepsRequestIds: boolean
  watcher: GuardWatcher | undefined
}

/** Authentication, rate limits, due work and features of protected routes, in this order (contract C4). */
export class Guard {
  constructor(private readonly options: GuardOptions) {}

  /** Gives a request its session. @throws DomainError unauthorized, rate_limited or feature_disabled */
  readonly admit = (incoming: Incoming): undefined | Promise<undefined> => {
    const { sessions } = this.options
    const authorization = incoming.request.headers.get('authorization')
    const known = sessions.recall(authorization)
    return known
      ? this.#identified(incoming, known)
      : sessions.admit(authorization).then((session) => this.#identified(incoming, session))
  }

  #identified(incoming: Incoming, session: Session): undefined | Promise<undefined> {
    const { usernameOf, limitsOf, watchDeliveries, watcher } = this.options
    const { set, operation } = incoming
    const { world, client } = session
    set.headers['X-Request-Id'] ??= world.nextRequestId()
    incoming.client = client
    incoming.username = usernameOf(session)
    watchDeliveries(world)
    watcher?.identified(incoming, session)
    const limits = limitsOf(client)
    if (limits) takeToken(session, limits, set, operation?.free === true)
    return andThen(turns.take(client), () => this.#withinLimits(incoming, session))
  }

  #withinLimits(incoming: Incoming, session: Session): undefined | Promise<undefined> {
    const { due, isDueBeforeReads, watcher } = this.options
    const { request, operation, set } = incoming
    const dryRun = operation?.hasDryRun ? readDryRun(request, operation, set.headers) : NO_DRY_RUN
    const isWaiting = isDueBeforeReads && isRead(request) && due.isDue(session.world)
    return andThen(isWaiting ? due.catchUpToRead(session.world) : undefined, () =>
      andThen(watcher?.admitted(incoming, session), () => this.#admitted(incoming, session, dryRun)),
    )
  }

  #admitted(incoming: Incoming, session: Session, { isDryRun, refusal }: DryRun): undefined | Promise<undefined> {
    requireFeature(incoming, session)
    return andThen(this.options.watcher?.entitled(incoming), () => {
      if (refusal) throw refusal
      session.checkAgain() // the request may have waited until its token was revoked
      incoming.session = isRead(incoming.request) ? session : this.#writing(incoming, session, isDryRun)
      return undefined
    })
  }

  /** A session for what a request writes: the steps of each of its units of work. */
  #writing(incoming: Incoming, session: Session, isDryRun: boolean): Session {
    const { due, watcher, keepsRequestIds } = this.options
    const { request, set } = incoming
    const { world } = session
    const requestId = keepsRequestIds ? String(set.headers['X-Request-Id']) : null
    const cause = { requestId, traceparent: traceparentOf(request) ?? null }
    const write: Session['write'] = (work) =>
      due.write(world, session.write, (tx) => {
        if (request.signal.aborted) throw unreadable()
        requireFeature(incoming, session)
        return causedBy(world, cause, () => work(tx))
      })
    const watched = watcher?.watched(incoming, world, write) ?? write
    return { ...session, write: isDryRun ? undoing(world, watched) : watched, isDryRun }
  }

  /** The routes of a module, which get the session of their requests. */
  routes(group: Group<undefined> & { feature?: Feature }) {
    return new Routes<{ session: Session }>(group, this.admit)
  }
}

const isRead = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** The feature of a route is required when a request is let in, and again when it writes. @throws DomainError feature_disabled */
const requireFeature = ({ operation }: Incoming, { client }: Session): void => {
  const feature = operation?.feature
  if (feature !== undefined && !client.features.has(feature)) throw new DomainError(FEATURE_DISABLED)
}

const takeToken = (
  { world, client }: Session,
  limits: readonly BucketSize[],
  { headers }: Incoming['set'],
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
