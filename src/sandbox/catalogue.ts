import { isDeepStrictEqual } from 'node:util'
import { edgeOf, renderFailure } from '../http/errors.ts'
import type { Operation } from '../http/operation.ts'
import { refusalsOf, type ServedOperation } from '../http/operations.ts'
import type { Failure } from '../kernel/failure.ts'

/** A documented error at a place where it can occur (contract C15). */
export interface DocumentedError {
  name: string
  status: number
  method: string
  path: string
  body: object
}

/** What an operation can answer: its name for coverage, `success` or that of an error. */
export interface Outcome {
  operation: string
  method: string
  path: string
  status: number
  name: string
}

const SUCCESS = 'success'

/**
 * Every outcome that the API documents, made from the routes themselves: the list of errors, the faults that can be
 * asked for and the coverage cannot differ from what is served.
 */
export class Catalogue {
  readonly #byRoute: ReadonlyMap<string, ServedOperation>

  constructor(private readonly operations: readonly ServedOperation[]) {
    this.#byRoute = new Map(operations.map((served) => [routeKey(served.method, served.route), served]))
  }

  errors(): DocumentedError[] {
    return this.operations.flatMap(({ method, route, operation }) =>
      Object.entries(refusalsOf(operation)).map(([name, failure]) => {
        const { status, body } = renderFailure(failure, edgeOf(method, route))
        return { name, status, method, path: route, body }
      }),
    )
  }

  outcomes(): Outcome[] {
    return this.operations
      .filter(({ operation }) => operation.tag !== 'Sandbox')
      .flatMap(({ method, route, operation }) => [
        { operation: operation.id, method, path: route, status: operation.success.status, name: SUCCESS },
        ...Object.entries(refusalsOf(operation)).map(([name, failure]) => ({
          operation: operation.id,
          method,
          path: route,
          status: renderFailure(failure, edgeOf(method, route)).status,
          name,
        })),
      ])
  }

  /** Whether any operation documents an error of this name. */
  hasError(name: string): boolean {
    return this.operations.some(({ operation }) => name in refusalsOf(operation))
  }

  operationAt(method: string, route: string): Operation | undefined {
    return this.#byRoute.get(routeKey(method, route))?.operation
  }

  /** The failure of that name where a route documents it. */
  failureAt(method: string, route: string, name: string): Failure | undefined {
    const served = this.#byRoute.get(routeKey(method, route))
    return served && refusalsOf(served.operation)[name]
  }

  /** The operation that a request met, and the documented name of how it ended. */
  outcomeOf(method: string, route: string, status: number, failure: Failure | undefined): Outcome | undefined {
    const served = this.#byRoute.get(routeKey(method, route))
    if (!served) return undefined
    const name = failure ? nameOf(served, failure) : SUCCESS
    return name === undefined ? undefined : { operation: served.operation.id, method, path: route, status, name }
  }
}

const routeKey = (method: string, route: string): string => `${method} ${route.replace(/\/$/, '')}`

/** The documented error that is nearest: the same facts, else the same field and rule, else the same code. */
const nameOf = ({ operation }: ServedOperation, failure: Failure): string | undefined => {
  const alike = Object.entries(refusalsOf(operation)).filter(([, sample]) => sample.code === failure.code)
  const same =
    alike.find(([, sample]) => isDeepStrictEqual(sample, failure)) ??
    alike.find(([, sample]) => fieldAndRule(sample) === fieldAndRule(failure)) ??
    alike[0]
  return same?.[0]
}

const fieldAndRule = (failure: Failure): string => {
  const [first] = 'violations' in failure ? failure.violations : []
  return `${first?.field} ${first?.rule}`
}
