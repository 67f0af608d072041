import type { Extension } from '../../app/extension.ts'
import { listenToEvents } from '../../events/publish.ts'
import { sentBody } from '../../http/body.ts'
import { isOfDryRun, isOfHeader } from '../../http/dry-run.ts'
import type { RequestTarget } from '../../http/request-id.ts'
import { pathOf, targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import type { Log } from '../../observability/log.ts'
import { CREDENTIALS_WRONG } from '../../sessions/contract.ts'
import type { Session } from '../../sessions/sessions.ts'
import type { World } from '../../worlds/world.ts'
import { isAboutSandbox, isAsset, isControl, isProbe } from '../control/access.ts'
import type { WriteLog } from '../explore/writes.ts'
import type { Injection } from '../faults/injection.ts'
import type { Parts } from '../parts.ts'
import { explainRefusal, worldNamedIn } from '../worlds/accounts.ts'
import { markWritten } from '../worlds/written.ts'
import type { RequestsInProgress } from './in-progress.ts'
import { shownPartOf } from './redaction.ts'
import { type ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'
import { watchRows, withChanges } from './row-changes.ts'

interface Concerns extends Pick<Parts, 'worlds' | 'refuseUnknown' | 'outcomes' | 'coverage'> {
  inProgress: RequestsInProgress
  injection: Injection
  /** True while a feed is open. */
  isWatched: () => boolean
  /** Called with each request when it is recorded. */
  listeners: readonly RecordingListener[]
  /** Is shown each write while `scrip run --explore` runs. */
  explored: () => WriteLog | undefined
  log: Log
  strict: boolean
}

/** The order in which the concerns of the sandbox meet a request. */
export const observerOf = (concerns: Concerns) => {
  const { inProgress, refuseUnknown, injection, isWatched, worlds, explored, log, strict } = concerns

  const enterPublic = async (observed: ObservedRequest, asked: RequestTarget): Promise<void> => {
    const { request, route } = asked
    observed.world ??= await worldNamedIn(worlds, request, route)
    await injection.before(observed, observed.world ?? worlds.default, asked)
    // The control API checks it after access.
    if (!isControl(route)) await refuseUnknown(asked)
  }

  const close = (observed: ObservedRequest, request: Request): void => {
    if (isAboutSandbox(pathOf(request.url))) return
    const world = inProgress.worldOf(request) ?? worlds.default
    inProgress.ended(request)
    explored()?.ended(request, observed.changes.length > 0)
    record(concerns, world, request, observed)
  }

  return {
    arrived: inProgress.arrived,
    identified: inProgress.identified,
    faultOf: inProgress.faultOf,

    /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
    entered: (asked: RequestTarget): Promise<void> | undefined => {
      const observed = inProgress.of(asked.request)
      return observed && asked.operation?.public ? enterPublic(observed, asked) : undefined
    },

    /** The guard has let a request into a world. @throws DomainError the injected fault, or validation */
    admitted: (asked, session) => {
      const observed = inProgress.of(asked.request)
      if (!observed) return session
      const injected = injection.before(observed, session.world, asked, session)
      // Reading writes nothing.
      if (asked.request.method === 'GET') return injected ? injected.then(() => session) : session
      const writing = watchedSession(observed, session, isWatched())
      const writes = explored()
      if (!injected && !writes) return writing
      return Promise.resolve(injected)
        .then(() => writes && injection.losing(observed, writes, asked, writing))
        .then(() => writing)
    },

    /** With `--strict`, an undocumented name is refused after features (decision 47). */
    entitled: (asked) => (strict ? refuseUnknown(asked) : undefined),

    ended: ({ request, route }, { status, headers, body }, failure) => {
      const observed = inProgress.of(request)
      if (!observed) return
      if (failure) {
        observed.failure = failure
        observed.route ??= route || null
      }
      observed.response = { status, headers, body: body instanceof Uint8Array ? shownPartOf(body) : body }
      // The fault may still change the response.
      if (observed.injected) return
      if (failure === CREDENTIALS_WRONG) explainRefusal({ log, worlds }, request)
      close(observed, request)
    },

    /** The response that the client gets instead. */
    deliver: (request, response) => {
      const observed = inProgress.of(request)
      return observed?.injected
        ? injection.deliver(observed, observed.injected, request, response, () => close(observed, request))
        : response
    },
  } satisfies Extension['observer'] & Record<'entered', unknown>
}

/** Records a request in the log and the coverage of its world, once its response is known. */
const record = (
  { outcomes, coverage, listeners }: Pick<Concerns, 'outcomes' | 'coverage' | 'listeners'>,
  world: World,
  request: Request,
  observed: ObservedRequest,
): void => {
  if (world.closed) return
  const { route, failure, refusedStrictly, response } = observed
  const outcome = route === null || refusedStrictly ? undefined : outcomes.outcomeOf(request.method, route, failure)
  observed.outcome = outcome?.name ?? null
  // The outcome of a dry run does not count, except for the errors of its header.
  const isMet = !isOfDryRun(response.headers) || (failure !== undefined && isOfHeader(failure))
  if (outcome && isMet) coverage.count(world, outcome)
  const path = pathOf(request.url)
  if (isProbe(path) || isAsset(path)) return
  observed.atMs = world.clock.nowMs()
  observed.method = request.method
  observed.path = targetOf(request.url)
  observed.requestBody = sentBody(request)
  observed.endedMs = sinceStartMs()
  observed.durationMs = observed.endedMs - observed.startedMs
  observed.fault = observed.injected?.fault.name ?? null
  observed.injected = undefined
  const logged = world.of(requestLog).add(observed)
  for (const listener of listeners) listener(logged)
}

/**
 * The session with which a request writes. It notes the rows and the events that the request writes, and the values of the rows
 * while somebody watches requests as they happen.
 */
const watchedSession = (observed: ObservedRequest, session: Session, isWatched: boolean): Session => {
  const { world } = session
  return {
    ...session,
    write: async (work) => {
      watchRows(world)
      let events: string[] = []
      const value = await session.write((tx) => {
        events = [] // of a unit of work that was undone and runs again
        using _ = listenToEvents(world, ({ eventId }) => events.push(eventId))
        const written = withChanges(world, isWatched, () => work(tx))
        observed.changes = [...observed.changes, ...written.changes]
        if (written.changes.length > 0) markWritten(world)
        return written.value
      })
      observed.events.push(...events)
      return value
    },
  }
}
