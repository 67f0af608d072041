import { renderFailure } from '../../http/errors.ts'
import { commonErrorsOf, errorNameOf, errorsOf, type ServedOperation } from '../../http/operation.ts'
import type { Failure } from '../../kernel/failure.ts'
import { type World, worldPart } from '../../work/world.ts'
import type { Worlds } from '../../work/worlds.ts'
import { isAsset, isControl, isProbe } from '../control/access.ts'
import type { DocumentedError } from '../faults/contract.ts'
import type { CoverageReport } from './contract.ts'

/** A documented way in which an operation ends: `success`, or the name of an error. */
type Outcome = Omit<CoverageReport['outcomes'][number], 'count'>

/** An error that is the same for every operation counts once for the API: a client has one piece of code for it. */
const COMMON = { operation: 'any', method: 'ANY', path: '/*' } as const

const SUCCESS = 'success'

/** The outcomes that were met, and how often. */
type Tally = Map<Outcome, number>

const tally = worldPart((): Tally => new Map())

/**
 * Every documented outcome, read from the routes themselves, so that the list of errors, the faults and the coverage
 * cannot differ from what is served (decision 0013). Counts those that requests meet, in each world and in all since the start.
 */
export class OutcomeRegistry {
  readonly #served: ServedOperation[] = []
  readonly #byRoute = new Map<string, ServedOperation>()
  /** Made when they are first met or listed: making all at once would delay the first response. */
  readonly #outcomes = new Map<string, Outcome>()
  readonly #all: Tally = new Map()

  constructor(private readonly worlds: Worlds) {}

  add(operations: readonly ServedOperation[]): void {
    for (const served of operations) {
      this.#served.push(served)
      const line = `${served.method} ${served.route}`
      this.#byRoute.set(line, served).set(`${line}/`, served)
    }
  }

  /** The errors of the API, or those of the control API too. Probes have none. */
  errors({ all }: { all: boolean }): DocumentedError[] {
    return this.#served
      .filter(({ route }) => !isProbe(route) && (all || !isControl(route)))
      .flatMap(({ method, route, operation }) =>
        Object.entries(errorsOf(operation)).map(([name, failure]) => {
          const { status, body } = renderFailure(failure, operation)
          return { name, status, method, path: route, body }
        }),
      )
  }

  /** The outcomes that a client of the API should meet, without those of probes and pictures. */
  #ofApi(): Outcome[] {
    const known = this.#served.filter(
      ({ operation, route }) => operation.tag !== 'Sandbox' && !operation.isProbe && !isAsset(route),
    )
    const outcomes = known.flatMap((served) =>
      [SUCCESS, ...Object.keys(errorsOf(served.operation))].map((name) => this.#outcome(served, name)),
    )
    const isCommon = ({ operation }: Outcome) => operation === COMMON.operation
    return [...new Set(outcomes)].sort((a, b) => Number(isCommon(a)) - Number(isCommon(b)))
  }

  /** True if a rule for this error, or for any outcome, can take effect at one of the endpoints that fit. */
  canOccur(error: string | null, fits: (method: string, route: string) => boolean = () => true): boolean {
    return this.#served.some(
      ({ method, route, operation }) =>
        fits(method, route) && (error === null || Object.hasOwn(errorsOf(operation), error)),
    )
  }

  /** The documented outcome of a request; always the same object for the same outcome. */
  outcomeOf(method: string, route: string, failure: Failure | undefined): Outcome | undefined {
    const served = this.#byRoute.get(`${method} ${route}`)
    if (!served) return undefined
    const name = failure ? errorNameOf(served.operation, failure) : SUCCESS
    return name === undefined ? undefined : this.#outcome(served, name)
  }

  count(world: World, outcome: Outcome): void {
    for (const met of [this.#all, world.of(tally)]) met.set(outcome, (met.get(outcome) ?? 0) + 1)
  }

  /** The coverage of one world, or of all worlds, dropped ones included. */
  report(world?: World): CoverageReport {
    const ofApi = this.#ofApi()
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

  #outcome({ operation, method, route }: ServedOperation, name: string): Outcome {
    const common = name === SUCCESS ? undefined : commonErrorsOf(operation)[name]
    return this.#outcomes.getOrInsertComputed(common ? name : `${operation.id} ${name}`, () => {
      const failure = errorsOf(operation)[name]
      const status = failure ? renderFailure(failure, operation).status : operation.response.status
      return common ? { ...COMMON, status, name } : { operation: operation.id, method, path: route, status, name }
    })
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
  return coveredOf(outcomes.length, outcomes.length - missed.length) + rest
}

const coveredOf = (documented: number, exercised: number): string =>
  `${exercised} of ${documented} documented outcomes covered.`

/** The report for people: the total, then the outcomes by endpoint, one line each. */
export const toTable = ({ documented, exercised, outcomes }: CoverageReport): string => {
  const lines = [coveredOf(documented, exercised)]
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
