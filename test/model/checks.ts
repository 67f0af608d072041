import type { Database as Sqlite } from 'bun:sqlite'
import type { Served } from '../docs/document.ts'
import { validatorOf } from '../docs/schemas.ts'
import { LEDGER_FAULTS } from '../wallets/books.ts'
import type { ProgramResponse } from './play.ts'

/** What must hold of every response and of every ledger, whatever was asked. */

export type Shape = 'structured' | 'flat' | 'charges'

/** How the errors of a path leave (contract C4). */
export const shapeOf = (path: string): Shape => {
  if (/^\/api\/v1\/products\/[^/]+\/(?:charges|discount)$/.test(path)) return 'charges'
  return /^\/api\/v1\/(?:beneficiaries|payouts)(?:\/|$)/.test(path) ? 'flat' : 'structured'
}

const ALWAYS_STRUCTURED = new Set([401, 403, 429, 503])
const CODES: Record<number, readonly string[]> = {
  400: ['BAD_REQUEST', 'VALIDATION_FAILURE'],
  401: ['UNAUTHORIZED'],
  403: ['FORBIDDEN'],
  404: ['NOT_FOUND'],
  429: ['TOO_MANY_REQUESTS'],
  500: ['INTERNAL_SERVER_ERROR'],
  503: ['SERVICE_UNAVAILABLE'],
}
const NAMES: Record<string, string> = {
  BAD_REQUEST: 'BadRequestError',
  VALIDATION_FAILURE: 'ValidationException',
  UNAUTHORIZED: 'UnauthorizedError',
  FORBIDDEN: 'ForbiddenError',
  NOT_FOUND: 'NotFoundError',
  TOO_MANY_REQUESTS: 'TooManyRequestsError',
  INTERNAL_SERVER_ERROR: 'InternalServerError',
  SERVICE_UNAVAILABLE: 'ServiceUnavailableError',
}
const FLAT_NAMES: Record<number, readonly string[]> = {
  400: ['ValidationException', 'BadRequest'],
  404: ['NotFound'],
  500: ['InternalServerError'],
}

/** What is wrong with an error, besides the words (spec section 7, contract C4). */
const errorFaults = (path: string, { status, json }: ProgramResponse): string | undefined => {
  const body = json as { error?: unknown; message?: unknown } | undefined
  const shape = ALWAYS_STRUCTURED.has(status) || !path.startsWith('/api/') ? 'structured' : shapeOf(path)
  if (shape === 'flat') {
    const isFlat = FLAT_NAMES[status]?.includes(String(body?.error)) && typeof body?.message === 'string'
    return isFlat ? undefined : `an error in another shape than ${shape}`
  }
  if (shape === 'charges') {
    const error = body?.error as { message?: unknown; details?: unknown } | string | undefined
    const isCharges =
      typeof error === 'string' || (typeof error?.message === 'string' && typeof error.details === 'string')
    return isCharges ? undefined : `an error in another shape than ${shape}`
  }
  const error = body?.error as { name?: unknown; code?: unknown; message?: unknown; messages?: unknown } | undefined
  const code = String(error?.code)
  if (!CODES[status]?.includes(code) || error?.name !== NAMES[code] || typeof error?.message !== 'string') {
    return `an error in another shape than ${shape}`
  }
  return undefined
}

/** What is wrong with a response, whatever was asked: undocumented, in another shape, or without its headers. */
export const responseFaults = (
  operation: Served | undefined,
  path: string,
  sentId: string | undefined,
  response: ProgramResponse,
) => {
  const { status, headers, text, json } = response
  const requestId = headers.get('x-request-id')
  if (!requestId) return 'no X-Request-Id'
  if (sentId !== undefined && requestId !== sentId) return `X-Request-Id ${requestId} instead of ${sentId}`
  if (status >= 400) {
    const fault = errorFaults(path, response)
    if (fault) return fault
  }
  if (!operation) return undefined
  const documented = operation.responses[status]
  if (!documented) return `status ${status} is not documented`
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  if (!documented.content) return text === '' ? undefined : 'a body where none is documented'
  const content = documented.content[type]
  if (!content) return `content type ${type} is not documented`
  if (type !== 'application/json') return undefined
  const validate = validatorOf(content.schema)
  if (validate(json)) return undefined
  const [first] = validate.errors ?? []
  return `not as documented: ${first?.instancePath || '/'} ${first?.message}`
}

/** What is wrong with the ledger of a world, read from its database. */
export const ledgerFaults = (sqlite: Sqlite): string | undefined =>
  Object.entries(LEDGER_FAULTS).find(([, sql]) => sqlite.query(sql).get() !== null)?.[0]
