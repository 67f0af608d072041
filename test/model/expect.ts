import { errorIn } from '../http/routes.ts'
import type { Shape } from './checks.ts'
import type { Expected } from './play.ts'

/** Expectations of the model. */

export const badRequest = (shape: Shape, message: string): Expected => ({
  status: 400,
  body: errorIn(shape, 'BadRequest', message),
})
export const notFound = (shape: Shape, message: string): Expected => ({
  status: 404,
  body: errorIn(shape, 'NotFound', message),
})
export const unreadable = (shape: Shape): Expected => badRequest(shape, 'Invalid request body')
export const forbidden: Expected = { status: 403 }

/** A failed validation that names these fields and no others, in the words of its shape (contract C4). */
export const invalid = (shape: Shape, fields: readonly string[]): Expected => ({
  status: 400,
  fault: ({ json }) => {
    const named = fieldsNamed(shape, json)
    if (named === undefined) return 'no failed validation'
    const missing = fields.filter((field) => !named.has(field))
    return missing.length > 0 ? `does not name ${missing.join(', ')}` : undefined
  },
})

/** "amount too large" or "amount too small" (contract C5). */
export const amountTrouble = (shape: Shape, trouble: 'too large' | 'too small'): Expected => ({
  status: 400,
  fault: ({ text, json }) => {
    if (fieldsNamed(shape, json) === undefined) return 'no failed validation'
    return text.includes(`amount ${trouble}`) ? undefined : `does not say "amount ${trouble}"`
  },
})

const fieldsNamed = (shape: Shape, json: unknown): { has: (field: string) => boolean } | undefined => {
  const { error, message } = json as { error: Record<string, unknown> | string; message?: string }
  if (shape === 'structured') {
    const { code, messages } = error as { code: string; messages?: Record<string, unknown> }
    return code === 'VALIDATION_FAILURE' && messages ? new Set(Object.keys(messages)) : undefined
  }
  const words = shape === 'flat' ? message : ((error as { details?: string }).details ?? undefined)
  if (words === undefined || (shape === 'flat' && error !== 'ValidationException')) return undefined
  return { has: (field) => words.includes(field) }
}

/** The differences between the actual and the expected value, by name. */
export const faultsIn = (pairs: Record<string, [unknown, unknown]>): string | undefined => {
  const wrong = Object.entries(pairs).find(([, [actual, expected]]) => !Bun.deepEquals(actual, expected))
  return wrong && `${wrong[0]} is ${JSON.stringify(wrong[1][0])}, expected ${JSON.stringify(wrong[1][1])}`
}

/** The problems with some members of an object. */
export const memberFaults = (json: unknown, members: Record<string, unknown>): string | undefined =>
  faultsIn(
    Object.fromEntries(
      Object.entries(members).map(([name, expected]) => [name, [(json as Record<string, unknown>)[name], expected]]),
    ),
  )

export const isPathId = (id: string): boolean => /^[1-9]\d*$/.test(id) && Number(id) <= 2_147_483_647
