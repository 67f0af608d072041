import { sentBody } from '../../http/body.ts'
import { isOfHeader, isRehearsed } from '../../http/rehearsal.ts'
import { pathOf, targetOf } from '../../http/target.ts'
import { sinceStartMs } from '../../kernel/clock.ts'
import type { World } from '../../worlds/world.ts'
import { isAsset, isProbe } from '../control/gate.ts'
import type { Parts } from '../parts.ts'
import { type ObservedRequest, type RecordingListener, requestLog } from './request-log.ts'

/** Records each request in the log and the coverage of its world, once its response is known. */
export class Recorder {
  readonly #listeners: RecordingListener[] = []

  constructor(private readonly options: Pick<Parts, 'outcomes' | 'coverage'>) {}

  onRecorded(listener: RecordingListener): void {
    this.#listeners.push(listener)
  }

  record(world: World, request: Request, observed: ObservedRequest): void {
    if (world.closed) return
    this.#count(world, request, observed)
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
    if (observed.failure && observed.client === null) observed.cut()
    const logged = world.of(requestLog).add(observed)
    for (const listener of this.#listeners) listener(logged)
  }

  #count(world: World, { method }: Request, observed: ObservedRequest): void {
    const { route, failure, refusedStrictly } = observed
    if (route === null || refusedStrictly) return
    const outcome = this.options.outcomes.outcomeOf(method, route, failure)
    if (!outcome) return
    observed.outcome = outcome.name
    // What a rehearsal met is met by no client; what is wrong with its header, by nothing else.
    if (!isRehearsed(observed.response.headers) || (failure && isOfHeader(failure)))
      this.options.coverage.count(world, outcome)
  }
}
