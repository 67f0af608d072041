import type { Extension } from '../../app/extension.ts'
import type { Asked } from '../../http/request-id.ts'
import { pathOf } from '../../http/target.ts'
import type { Log } from '../../observability/log.ts'
import { CREDENTIALS_WRONG } from '../../sessions/contract.ts'
import { isAboutSandbox, isControl } from '../control/gate.ts'
import type { WriteLog } from '../explore/writes.ts'
import type { Injection } from '../faults/injection.ts'
import type { Parts } from '../parts.ts'
import { worldNamedIn } from '../worlds/accounts.ts'
import { explainRefusal } from '../worlds/refused-logins.ts'
import type { RequestsInProgress } from './in-progress.ts'
import type { recorder } from './recorder.ts'
import { shownPartOf } from './redaction.ts'
import type { ObservedRequest } from './request-log.ts'
import { watchedSession } from './watched-writes.ts'

interface Concerns extends Pick<Parts, 'worlds' | 'refuseUnknown'> {
  inProgress: RequestsInProgress
  injection: Injection
  /** Whether somebody watches requests as they happen. */
  isWatched: () => boolean
  record: ReturnType<typeof recorder>
  /** Is shown each write while `scrip run --explore` runs. */
  explored: () => WriteLog | undefined
  log: Log
  strict: boolean
}

/** The order in which the concerns of the sandbox meet a request. */
export const observerOf = (concerns: Concerns) => {
  const { inProgress, refuseUnknown, injection, isWatched, record, worlds, explored, log, strict } = concerns

  const enterPublic = async (observed: ObservedRequest, asked: Asked): Promise<void> => {
    const { request, route } = asked
    observed.world ??= await worldNamedIn(worlds, request, route)
    await injection.before(observed, observed.world ?? worlds.default, asked)
    // The control API checks it behind its gate.
    if (!isControl(route)) await refuseUnknown(asked)
  }

  const close = (observed: ObservedRequest, request: Request): void => {
    if (isAboutSandbox(pathOf(request.url))) return
    const world = inProgress.worldOf(request) ?? worlds.default
    inProgress.ended(request)
    explored()?.ended(request, observed.changes.length > 0)
    record(world, request, observed)
  }

  return {
    arrived: inProgress.arrived,
    identified: inProgress.identified,
    faultOf: inProgress.faultOf,

    /** A public route has met no guard and no fault yet. @throws DomainError the injected fault, or validation */
    entered: (asked: Asked): Promise<void> | undefined => {
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
      // What a fault makes of the response is not known yet.
      if (observed.injected) return
      if (failure === CREDENTIALS_WRONG) explainRefusal({ log, worlds }, request)
      close(observed, request)
    },

    /** What the client gets instead of a response. */
    deliver: (request, response) => {
      const observed = inProgress.of(request)
      return observed?.injected
        ? injection.deliver(observed, observed.injected, request, response, () => close(observed, request))
        : response
    },
  } satisfies Extension['observer'] & Record<'entered', unknown>
}
