import { isDeepStrictEqual } from 'node:util'
import { renderFailure } from '../../http/errors.ts'
import { errorsOf as errorsIn, type Operation, type ServedOperation } from '../../http/operation.ts'
import type { Failure } from '../../kernel/failure.ts'
import { isProbe } from '../control/gate.ts'
import type { DocumentedError } from '../faults/operations.ts'
import type { CoverageReport } from './operations.ts'

/** A documented way in which an operation ends: `success`, or the name of an error. */
export type Outcome = Omit<CoverageReport['outcomes'][number], 'count'>

/** A documented error as it is thrown and as it leaves. */
interface KnownError {
  failure: Failure
  body: object
  outcome: Outcome
}

/** A served operation with its outcomes. */
class KnownOperation {
  readonly success: Outcome
  #errors: readonly KnownError[] | undefined

  constructor(readonly served: ServedOperation) {
    const { operation, method, route } = served
    this.success = { operation: operation.id, method, path: route, status: operation.success.status, name: 'success' }
  }

  /** Rendered on first use: rendering the errors of all operations at once would delay the first answer. */
  get errors(): readonly KnownError[] {
    this.#errors ??= errorsOf(this.served)
    return this.#errors
  }
}

const errorsOf = ({ operation, method, route }: ServedOperation): KnownError[] =>
  Object.entries(errorsIn(operation)).map(([name, failure]) => {
    const { status, body } = renderFailure(failure, operation)
    return { failure, body, outcome: { operation: operation.id, method, path: route, status, name } }
  })

/**
 * Every documented outcome, read from the routes themselves, so that the list of errors, the faults and the coverage
 * cannot differ from what is served (decision 0013).
 */
export class OutcomeRegistry {
  readonly #known: KnownOperation[] = []
  /** By method, then by route. */
  readonly #byRoute = new Map<string, Map<string, KnownOperation>>()

  add(operations: readonly ServedOperation[]): void {
    for (const served of operations) {
      const known = new KnownOperation(served)
      const routes = this.#byRoute.get(served.method) ?? new Map<string, KnownOperation>()
      this.#byRoute.set(served.method, routes.set(served.route, known).set(`${served.route}/`, known))
      this.#known.push(known)
    }
  }

  /** The errors that a fault can provoke. */
  errors(): DocumentedError[] {
    return this.#known
      .filter(({ served }) => !isProbe(served.route))
      .flatMap(({ errors }) =>
        errors.map(({ body, outcome: { name, status, method, path } }) => ({ name, status, method, path, body })),
      )
  }

  /** The outcomes of the API, without those of the control API. */
  ofApi(): Outcome[] {
    return this.#known
      .filter(({ served }) => served.operation.tag !== 'Sandbox')
      .flatMap(({ success, errors }) => [success, ...errors.map(({ outcome }) => outcome)])
  }

  /** Whether a rule for this error, or for any outcome, can take effect at one of the endpoints that fit. */
  canOccur(error: string | null, fits: (method: string, route: string) => boolean = () => true): boolean {
    return this.#known.some(
      ({ served: { method, route }, errors }) =>
        fits(method, route) && (error === null || errors.some(({ outcome }) => outcome.name === error)),
    )
  }

  operationAt(method: string, route: string): Operation | undefined {
    return this.#at(method, route)?.served.operation
  }

  /** The failure of that name where a route documents it. */
  failureAt(method: string, route: string, name: string): Failure | undefined {
    return this.#at(method, route)?.errors.find(({ outcome }) => outcome.name === name)?.failure
  }

  /** How a request ended, as it is documented where it was served; one and the same value each time. */
  outcomeOf(method: string, route: string, failure: Failure | undefined): Outcome | undefined {
    const known = this.#at(method, route)
    return known && (failure ? nearest(known, failure) : known.success)
  }

  #at(method: string, route: string): KnownOperation | undefined {
    return this.#byRoute.get(method)?.get(route)
  }
}

/** The documented error that is nearest: the same facts, else the same field and rule, else the same code. */
const nearest = ({ errors }: KnownOperation, failure: Failure): Outcome | undefined => {
  const alike = errors.filter((error) => error.failure.code === failure.code)
  const same =
    alike.find((error) => isDeepStrictEqual(error.failure, failure)) ??
    alike.find((error) => fieldAndRule(error.failure) === fieldAndRule(failure)) ??
    alike[0]
  return same?.outcome
}

const fieldAndRule = (failure: Failure): string => {
  const [first] = failure.violations ?? []
  return `${first?.field} ${first?.rule}`
}
