import { readText } from '../../http/body.ts'
import { parseObject } from '../../http/json.ts'
import type { Operation } from '../../http/operation.ts'
import type { Violation } from '../../kernel/failure.ts'

/** How many unknown names an answer lists: the rest are told once these are gone. */
export const UNKNOWN_NAMED_MAX = 100

/**
 * What the API ignores, `--strict` refuses, so that a mistyped name surfaces: the members of a body and the parameters
 * of a query that the operation does not document.
 *
 * @throws DomainError body_unreadable when the body cannot be read as text
 */
export const unknownIn = async (operation: Operation, request: Request): Promise<Violation[]> => {
  const parameters = Object.keys(operation.query?.properties ?? {})
  const members = Object.keys(operation.body?.properties ?? {})
  const unknown = [
    ...unknownAmong(parametersOf(request), parameters, 'parameter'),
    ...(operation.body ? unknownAmong(await membersOf(request), members, 'member') : []),
  ]
  return unknown.slice(0, UNKNOWN_NAMED_MAX)
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
  const text = await readText(request)
  try {
    return Object.keys(parseObject(text))
  } catch {
    return []
  }
}
