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
import { turns } from '../kernel/turns.ts'
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
  readonly admit = async (routed: RoutedRequest): Promise<Session> => {
    const { request, operation, set } = routed
    const { due, isDueBeforeReads, onIdentified, onAdmitted, onEntitled } = this.options
    // Most requests need no wait, so only promises are awaited.
    const authorization = request.headers.get('authorization')
    const identified = this.options.sessions.recall(authorization) ?? (await this.options.sessions.admit(authorization))
    set.headers['X-Request-Id'] ??= identified.world.nextRequestId()
    onIdentified?.(request, identified)
    const limits = this.options.limitsOf(identified.client)
    if (limits) takeToken(identified, limits, set, operation?.free === true)
    const turn = turns.take(identified.client)
    if (turn) await turn
    const dryRun = operation?.hasDryRun ? readDryRun(request, operation, set.headers) : undefined
    const isReading = request.method === 'GET'
    if (!isReading) isSentBy(request, identified.client)
    if (isReading && isDueBeforeReads && due.isDue(identified.world)) await due.catchUpToRead(identified.world)
    const inStep = isReading ? identified : this.#inStep(identified, request, set.headers['X-Request-Id'])
    const admission = onAdmitted?.(routed, inStep) ?? inStep
    const admitted = admission instanceof Promise ? await admission : admission
    const session = operation?.feature ? entitled(admitted, operation.feature) : admitted
    const entitling = onEntitled?.(routed)
    if (entitling) await entitling
    // A request that has waited must not read with a token that was revoked meanwhile.
    if (dryRun?.refusal) throw dryRun.refusal
    session.checkAgain()
    return dryRun?.isDryRun ? withoutEffect(session) : session
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
    return new Routes<{ session: Session }>(group, async (context) => {
      const { request, set, path, route, operation } = context
      context.session = await this.admit({ request, set, path, route, operation })
    })
  }
}

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
