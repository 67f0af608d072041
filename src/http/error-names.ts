import { isDeepStrictEqual } from 'node:util'
import type { Failure } from '../kernel/failure.ts'
import { errorsOf, type Operation } from './operation.ts'

/**
 * The name of the closest documented error: the same facts, otherwise the same field and rule, otherwise the same code.
 */
export const errorNameOf = (operation: Operation, failure: Failure): string | undefined => {
  const alike = Object.entries(errorsOf(operation)).filter(([, documented]) => documented.code === failure.code)
  const nearest =
    alike.find(([, documented]) => isDeepStrictEqual(documented, failure)) ??
    alike.find(([, documented]) => fieldAndRule(documented) === fieldAndRule(failure)) ??
    alike[0]
  return nearest?.[0]
}

const fieldAndRule = (failure: Failure): string => {
  const [first] = failure.violations ?? []
  return `${first?.field} ${first?.rule}`
}
