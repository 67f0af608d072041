import { readText } from '../http/body.ts'
import type { Operation } from '../http/operation.ts'
import { DomainError, type Violation } from '../kernel/failure.ts'

/**
 * What the API ignores, `--strict` refuses, so that a mistyped name surfaces: members of a body and parameters of a
 * query that the operation does not document.
 *
 * @throws DomainError validation, naming each of them
 */
export const refuseUnknown = async (operation: Operation, request: Request): Promise<void> => {
  const parameters = Object.keys(operation.query?.properties ?? {})
  const members = Object.keys(operation.body?.schema.properties ?? {})
  const violations = [
    ...unknownAmong(parametersOf(request), parameters, 'parameter'),
    ...(operation.body ? unknownAmong(await membersOf(request), members, 'member') : []),
  ]
  if (violations.length > 0) throw new DomainError({ code: 'validation', violations })
}

const unknownAmong = (sent: readonly string[], known: readonly string[], what: string): Violation[] =>
  sent
    .filter((field) => !known.includes(field))
    .map((field) => ({ field, rule: 'enum', problem: `is no known ${what}; known are ${known.join(', ') || 'none'}` }))

const parametersOf = ({ url }: Request): string[] => {
  const start = url.indexOf('?')
  return start === -1 ? [] : [...new Set(new URLSearchParams(url.slice(start + 1)).keys())]
}

/** What is no object is left to the route to refuse. */
const membersOf = async (request: Request): Promise<string[]> => {
  try {
    const value: unknown = JSON.parse(await readText(request.clone() as Request))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
  } catch {
    return []
  }
}
