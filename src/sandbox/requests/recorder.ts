import { sentBody } from '../../http/body.ts'
import { isOfDryRun, isOfHeader } from '../../http/dry-run.ts'
import { pathOf, targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import type { World } from '../../worlds/world.ts'
import { isAsset, isProbe } from '../control/gate.ts'
import type { Parts } from '../parts.ts'
import { type ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'

/** Records each request in the log and the coverage of its world, once its response is known. */
export const recorder =
  ({ outcomes, coverage }: Pick<Parts, 'outcomes' | 'coverage'>, listeners: readonly RecordingListener[]) =>
  (world: World, request: Request, observed: ObservedRequest): void => {
    if (world.closed) return
    const { route, failure, refusedStrictly, response } = observed
    const outcome = route === null || refusedStrictly ? undefined : outcomes.outcomeOf(request.method, route, failure)
    observed.outcome = outcome?.name ?? null
    // What a dry run met is met by no client; what is wrong with its header, by nothing else.
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
