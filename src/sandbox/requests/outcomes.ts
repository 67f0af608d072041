import { renderFailure } from '../../http/errors.ts'
import { commonErrorsOf, errorNameOf, errorsOf, type ServedOperation } from '../../http/operation.ts'
import type { Failure } from '../../kernel/failure.ts'
import { type World, worldPart } from '../../worlds/world.ts'
import type { Worlds } from '../../worlds/worlds.ts'
import { isAsset, isControl, isProbe } from '../control/access.ts'
import type { DocumentedError } from '../faults/contract.ts'
import type { CoverageReport } from './contract.ts'

/** A documented way in which an operation ends: `success`, or the name of an error. */
type Outcome = Omit<CoverageReport['outcomes'][number], 'count'>

interface KnownError {
  name: string
  status: number
  failure: Failure
  body: object
  outcome: Outcome
}

/** An error that is the same for every operation counts once for the API: a client has one piece of code for it. */
const COMMON = { operation: 'any', method: 'ANY', path: '/*' } as const

class KnownOperation {
  readonly success: Outcome
  #errors: readonly KnownError[] | undefined

  constructor(
    readonly served: ServedOperation,
    private readonly common: Map<string, Outcome>,
  ) {
    const { operation, method, route } = served
    this.success = { operation: operation.id, method, path: route, status: operation.response.status, name: 'success' }
  }

  /** Rendered on first use: rendering the errors of all operations at once would delay the first response. */
  get errors(): readonly KnownError[] {
    this.#errors ??= this.#rendered()
    return this.#errors
  }

  #rendered(): KnownError[] {
    const { operation } = this.served
    const common = commonErrorsOf(operation)
    return Object.entries(errorsOf(operation)).map(([name, failure]) => {
      const { status, body } = renderFailure(failure, operation)
      const outcome = name in common ? this.#common(name, status) : { ...this.success, status, name }
      return { name, status, failure, body, outcome }
    })
  }

  #common(name: string, status: number): Outcome {
    const outcome = this.common.get(name) ?? { ...COMMON, status, name }
    this.common.set(name, outcome)
    return outcome
  }
}

/**
 * Every documented outcome, read from the routes themselves, so that the list of errors, the faults and the coverage
 * cannot differ from what is served (decision 0013).
 */
export class OutcomeRegistry {
  readonly #known: KnownOperation[] = []
  readonly #common = new Map<string, Outcome>()
  readonly #byRoute = new Map<string, Map<string, KnownOperation>>()

  add(operations: readonly ServedOperation[]): void {
    for (const served of operations) {
      const known = new KnownOperation(served, this.#common)
      const routes = this.#byRoute.get(served.method) ?? new Map<string, KnownOperation>()
      this.#byRoute.set(served.method, routes.set(served.route, known).set(`${served.route}/`, known))
      this.#known.push(known)
    }
  }

  /** The errors of the API, or those of the control API too. Probes have none. */
  errors({ all }: { all: boolean }): DocumentedError[] {
    return this.#known
      .filter(({ served: { route } }) => !isProbe(route) && (all || !isControl(route)))
      .flatMap(({ served: { method, route }, errors }) =>
        errors.map(({ name, status, body }) => ({ name, status, method, path: route, body })),
      )
  }

  /** The outcomes that a client of the API should meet, without those of probes and pictures. */
  ofApi(): Outcome[] {
    const known = this.#known.filter(
      ({ served: { operation, route } }) => operation.tag !== 'Sandbox' && !operation.isProbe && !isAsset(route),
    )
    const outcomes = new Set(known.flatMap(({ success, errors }) => [success, ...errors.map(({ outcome }) => outcome)]))
    const isCommon = ({ operation }: Outcome) => operation === COMMON.operation
    return [...outcomes].sort((a, b) => Number(isCommon(a)) - Number(isCommon(b)))
  }

  /** True if a rule for this error, or for any outcome, can take effect at one of the endpoints that fit. */
  canOccur(error: string | null, fits: (method: string, route: string) => boolean = () => true): boolean {
    return this.#known.some(
      ({ served: { method, route }, errors }) =>
        fits(method, route) && (error === null || errors.some(({ name }) => name === error)),
    )
  }

  /** The documented outcome of a request; always the same object for the same outcome. */
  outcomeOf(method: string, route: string, failure: Failure | undefined): Outcome | undefined {
    const known = this.#byRoute.get(method)?.get(route)
    return known && (failure ? documented(known, failure) : known.success)
  }
}

const documented = ({ errors, served }: KnownOperation, failure: Failure): Outcome | undefined => {
  const errorName = errorNameOf(served.operation, failure)
  return errors.find(({ name }) => name === errorName)?.outcome
}

/** The outcomes that were met, and how often. */
type Tally = Map<Outcome, number>

const tally = worldPart((): Tally => new Map())

/** Counts the documented outcomes of requests, in each world and in all since the start. */
export class Coverage {
  readonly #all: Tally = new Map()

  constructor(
    private readonly registry: OutcomeRegistry,
    private readonly worlds: Worlds,
  ) {}

  count(world: World, outcome: Outcome): void {
    for (const met of [this.#all, world.of(tally)]) met.set(outcome, (met.get(outcome) ?? 0) + 1)
  }

  /** The report of one world, or of all worlds, dropped ones included. */
  report(world: World | undefined): CoverageReport {
    const ofApi = this.registry.ofApi()
    const met = world?.of(tally) ?? this.#all
    const outcomes = ofApi.map((outcome) => ({ ...outcome, count: met.get(outcome) ?? 0 }))
    return {
      summary: summaryOf(outcomes),
      documented: ofApi.length,
      ...sharesOf(ofApi, met),
      worlds: world ? [] : this.worlds.all.map((each) => ({ world: each.name, ...sharesOf(ofApi, each.of(tally)) })),
      outcomes,
    }
  }
}

const nameOf = ({ operation, name }: Pick<Outcome, 'operation' | 'name'>): string => `${operation} ${name}`

const sharesOf = (outcomes: readonly Outcome[], met: Tally) => {
  const exercised = outcomes.filter((outcome) => met.has(outcome)).length
  return { exercised, percent: Math.floor((exercised * 1_000) / outcomes.length) / 10 }
}

/** The maximum number of missed outcomes in a summary. */
const NAMED_MAX = 10

const summaryOf = (outcomes: CoverageReport['outcomes']): string => {
  const missed = outcomes.filter(({ count }) => count === 0).map(nameOf)
  const named = missed.slice(0, NAMED_MAX).join(', ')
  const others = missed.length - NAMED_MAX
  const rest = missed.length === 0 ? '' : ` Not covered: ${named}${others > 0 ? ` and ${others} more` : ''}.`
  return `${outcomes.length - missed.length} of ${outcomes.length} documented outcomes covered.${rest}`
}

/** The report for people: the summary, then the outcomes by endpoint, one line each. */
export const toTable = ({ summary, outcomes }: CoverageReport): string => {
  const lines = [summary]
  let heading = ''
  for (const { method, path, status, name, count } of outcomes) {
    const endpoint = `${method} ${path}`
    if (endpoint !== heading) lines.push('', endpoint)
    heading = endpoint
    const [mark, times] = count > 0 ? ['+', count] : ['-', '']
    lines.push(`  ${mark} ${status} ${name.padEnd(44)} ${times}`.trimEnd())
  }
  return `${lines.join('\n')}\n`
}
