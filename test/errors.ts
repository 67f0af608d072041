import { DomainError } from '../src/kernel/failure.ts'

/** The complete errors that most operations share. */

/** An error in the structured shape (spec section 7, shape 1). */
export const structured = (name: string, code: string, message: string, messages?: object) => ({
  error: { name, code, message, ...(messages && { messages }) },
})

export const badRequest = (message: string) => structured('BadRequestError', 'BAD_REQUEST', message)
export const notFound = (message: string) => structured('NotFoundError', 'NOT_FOUND', message)
export const worldNotFound = (name: string) => notFound(`No world is called ${name}`)
export const UNREADABLE = badRequest('Invalid request body')
export const UNAUTHORIZED = structured('UnauthorizedError', 'UNAUTHORIZED', 'Invalid or expired access token')
export const FORBIDDEN = structured(
  'ForbiddenError',
  'FORBIDDEN',
  'The requested feature is not enabled for this client',
)

export const tooMany = (seconds: number) =>
  structured(
    'TooManyRequestsError',
    'TOO_MANY_REQUESTS',
    `Rate limit exceeded. Retry after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
  )

/** The failure that refuses some work. */
export const failureOf = async (work: Promise<unknown>): Promise<DomainError['failure']> => {
  const error = await work.catch((reason: unknown) => reason)
  if (!(error instanceof DomainError)) throw error
  return error.failure
}

/** Refused fields, each with its problem. */
export const invalid = (messages: object) =>
  structured('ValidationException', 'VALIDATION_FAILURE', 'Input validation failed.', messages)
export const validations = (...broken: [field: string, rule: string, problem: string][]) =>
  invalid(
    Object.fromEntries(
      broken.map(([field, rule, problem]) => [field, [{ rule, field, message: `The ${field} field ${problem}.` }]]),
    ),
  )
export const validation = (field: string, rule: string, problem: string) => validations([field, rule, problem])
export const NOT_UNICODE = 'must not contain NUL or half a surrogate pair'
