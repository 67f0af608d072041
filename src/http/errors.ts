import type { Failure, FailureKind, Violation } from '../kernel/failure.ts'

/** The shapes of error bodies (spec section 7): structured (shape 1), flat (shape 2), and charges (shape 3). */
export type ErrorShape = 'structured' | 'flat' | 'charges'

export interface ErrorFormat {
  errorShape: ErrorShape
  /** The message when the program itself fails (contract C4). */
  unexpectedError: string
}

/** The format for requests outside /api/v1 and for unknown routes. */
export const STRUCTURED: ErrorFormat = { errorShape: 'structured', unexpectedError: 'Internal server error' }

/** The status of each kind, and its names in the structured and in the flat shape. */
const KINDS: Record<FailureKind, { status: number; name: string; flatName: string }> = {
  BAD_REQUEST: { status: 400, name: 'BadRequestError', flatName: 'BadRequest' },
  VALIDATION_FAILURE: { status: 400, name: 'ValidationException', flatName: 'ValidationException' },
  UNAUTHORIZED: { status: 401, name: 'UnauthorizedError', flatName: 'Unauthorized' },
  FORBIDDEN: { status: 403, name: 'ForbiddenError', flatName: 'Forbidden' },
  NOT_FOUND: { status: 404, name: 'NotFoundError', flatName: 'NotFound' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, name: 'UnsupportedMediaTypeError', flatName: 'UnsupportedMediaType' },
  TOO_MANY_REQUESTS: { status: 429, name: 'TooManyRequestsError', flatName: 'TooManyRequests' },
  SERVICE_UNAVAILABLE: { status: 503, name: 'ServiceUnavailableError', flatName: 'ServiceUnavailable' },
  INTERNAL_SERVER_ERROR: { status: 500, name: 'InternalServerError', flatName: 'InternalServerError' },
}

interface RenderedError {
  status: number
  headers: Readonly<Record<string, string>>
  body: { error: unknown; message?: string }
}

export const renderFailure = (failure: Failure, { errorShape, unexpectedError }: ErrorFormat): RenderedError => {
  const worded = failure.code === 'internal' ? { ...failure, message: unexpectedError } : failure
  const status = failure.status ?? KINDS[failure.kind].status
  return { status, headers: failure.headers ?? {}, body: RENDERERS[shapeOf(failure, errorShape)](worded) }
}

export const shapeOf = ({ isUniform }: Failure, errorShape: ErrorShape): ErrorShape =>
  isUniform ? 'structured' : errorShape

const RENDERERS: Record<ErrorShape, (failure: Failure) => RenderedError['body']> = {
  structured: ({ kind, message, violations }) => ({
    error: {
      name: KINDS[kind].name,
      code: kind,
      message,
      ...(violations && { messages: messagesByField(violations) }),
    },
  }),
  flat: ({ kind, message, violations }) => ({
    error: KINDS[kind].flatName,
    message: violations ? violations.map(flatSentence).join('; ') : message,
  }),
  charges: ({ message, violations }) => ({
    error: violations ? { message: 'Validation failed', details: violations.map(plainSentence).join('; ') } : message,
  }),
}

const messagesByField = (violations: readonly Violation[]): Record<string, object[]> => {
  // Clients choose the names, so an object without a prototype is needed: `constructor` is a field like any other.
  const messages: Record<string, object[]> = Object.create(null)
  for (const { field, rule, problem, message = `The ${field} field ${problem}.` } of violations) {
    messages[field] ??= []
    messages[field].push({ rule, field, message })
  }
  return messages
}

const plainSentence = ({ field, problem }: Violation): string => `${field} ${problem}`

/** The flat sentence of a violation. The specification has its own for an invalid e-mail address (spec 4.1, rule 2). */
const flatSentence = (violation: Violation): string =>
  violation.rule === 'email' ? `Invalid ${violation.field} format` : plainSentence(violation)
